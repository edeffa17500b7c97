// Columns of text, as Python's format() pads them.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Characters of UTF-8 text.
size_t text_width(std::string_view text);
/// The text followed by blanks up to a width.
std::string padded(std::string_view text, size_t width);

}  // namespace assay
