// From messages that were read, and perhaps changed, to Models.
#pragma once

#include <memory>

#include "assay/io.h"
#include "onnx/messages.h"

namespace assay {

/// As parse_model(), for a message whose texts and bytes `owner` keeps alive. Errors do not name the file.
std::shared_ptr<Model> import_message(const onnx::ModelMessage& message, std::shared_ptr<const void> owner,
                                      const ImportOptions& options = {});

}  // namespace assay
