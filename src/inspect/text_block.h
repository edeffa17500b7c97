// Blocks of lines.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Every line of the block, empty ones too, indented by four blanks per level. One line end at the end of the
/// block is dropped.
std::string indented(std::string_view block, int levels = 1);

/// The block without blanks and line ends at its ends.
std::string_view stripped(std::string_view block);

}  // namespace assay
