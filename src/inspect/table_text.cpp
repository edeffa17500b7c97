#include "inspect/table_text.h"

#include "base/utf8.h"

namespace assay {

size_t text_width(std::string_view text) {
  size_t width = 0;
  for (; !text.empty(); ++width) take_code_point(text);
  return width;
}

std::string padded(std::string_view text, size_t width) {
  const size_t own = text_width(text);
  return std::string(text) + std::string(width > own ? width - own : 0, ' ');
}

}  // namespace assay
