// Builds Models from messages that were read and possibly changed.
#pragma once

#include <memory>

#include "assay/io.h"
#include "onnx/messages.h"

namespace assay {

/// Like parse_model(), for a message whose strings and bytes `owner` keeps alive. Errors name no file.
std::shared_ptr<Model> import_message(const onnx::ModelMessage& message, std::shared_ptr<const void> owner,
                                      const ImportOptions& options = {});

}  // namespace assay
