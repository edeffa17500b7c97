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

/// True for a file that load_model() reads as text, by its suffix or by how it begins; false when there is
/// none.
bool is_text_model(const std::string& path);

/// The same for ONNX's text form (docs/reference/text.md). Errors of syntax name line and column, and show
/// the line.
std::shared_ptr<Model> parse_text(std::string_view text, const std::string& name,
                                  const ImportOptions& options = {});

}  // namespace assay
