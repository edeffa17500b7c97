// Reads Models from ONNX text; assay/io.h reads files and bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "assay/io.h"

namespace assay {

/// True for a file that load_model() reads as text, by
/// its suffix or first bytes; false if it does not exist.
bool is_text_model(const std::string& path);

/// Like parse_model(), for ONNX's text form (docs/reference/text.md). Errors of syntax name line and column,
/// and show the line.
std::shared_ptr<Model> parse_text(std::string_view text, const std::string& name,
                                  const ImportOptions& options = {});

}  // namespace assay
