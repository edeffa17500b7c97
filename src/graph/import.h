// From ONNX text to Models; files and bytes are read by assay/io.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "assay/io.h"

namespace assay {

/// True for a file that load_model() reads as text, by its suffix or by how it begins; false when there is
/// none.
bool is_text_model(const std::string& path);

/// As parse_model() for ONNX's text form (docs/text.md). Errors of syntax name line and column, and show the
/// line.
std::shared_ptr<Model> parse_text(std::string_view text, const std::string& name,
                                  const ImportOptions& options = {});

}  // namespace assay
