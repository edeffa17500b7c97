// From ONNX bytes to Models; files are read by assay/io.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "assay/io.h"

namespace assay {

/// load_model() for bytes in memory, kept alive by `owner`. `name` stands for the file in messages; external
/// data are looked for in options.external_data_dir.
std::shared_ptr<Model> parse_model(std::string_view bytes, std::shared_ptr<const void> owner,
                                   const std::string& name, const ImportOptions& options = {});

}  // namespace assay
