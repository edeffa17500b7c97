#include "base/visible_text.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace assay {
namespace {

bool acts(char32_t point) {
  return (point < 0x20 && point != '\t') || (point >= 0x7f && point < 0xa0) || point == 0x2028 ||
         point == 0x2029 || (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
         point == 0x200e || point == 0x200f || point == 0x061c;
}

}  // namespace

std::string visible_text(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view rest = text;
    const char32_t point = take_code_point(text);
    if (point == '\n')
      out += lines == Lines::kMany ? "\n" : "\\n";
    else if (point == '\r' && lines == Lines::kOne)
      out += "\\r";
    else if (point == kNotUtf8)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest[0]));
    else if (acts(point))
      out += point < 0x100 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(point))
                           : fmt::format("\\u{:04x}", static_cast<uint32_t>(point));
    else
      out += rest.substr(0, rest.size() - text.size());
  }
  return out;
}

}  // namespace assay
