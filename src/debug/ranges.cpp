#include "debug/ranges.h"

#include <fmt/format.h>

namespace assay::debug {

std::string ranges_text(std::span<const size_t> positions) {
  std::string text;
  for (size_t i = 0; i < positions.size();) {
    size_t end = i;
    while (end + 1 < positions.size() && positions[end + 1] == positions[end] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", positions[i]);
    if (end > i) text += fmt::format("-{}", positions[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace assay::debug
