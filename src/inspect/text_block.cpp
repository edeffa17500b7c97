#include "inspect/text_block.h"

namespace assay {

std::string indented(std::string_view block, int levels) {
  const std::string margin(static_cast<size_t>(levels) * 4, ' ');
  if (block.ends_with('\n')) block.remove_suffix(1);
  std::string out = margin;
  for (size_t begin = 0;;) {
    const size_t end = block.find('\n', begin);
    out += block.substr(begin, end - begin);
    if (end == std::string_view::npos) return out;
    out += '\n';
    out += margin;
    begin = end + 1;
  }
}

std::string_view stripped(std::string_view block) {
  constexpr std::string_view kBlanks = " \t\n\r\v\f";
  const size_t first = block.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return block.substr(first, block.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace assay
