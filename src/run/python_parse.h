// Numbers as Python reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

/// int(text): surrounding blanks, a sign and single underscores between digits are allowed.
/// Nothing when it would raise, or beyond int64.
std::optional<int64_t> python_int(std::string_view text);
/// float(text), including `inf`, `infinity` and `nan` in upper or lower case.
std::optional<double> python_float(std::string_view text);

/// The text without surrounding blanks, as str.strip() does.
std::string_view python_strip(std::string_view text);

}  // namespace assay
