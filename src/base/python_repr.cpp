#include "base/python_repr.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"

namespace assay {
namespace {

/// From what to_chars prints in scientific notation.
Decimal parse_scientific(const char* text, const char* end, bool negative) {
  Decimal d{.negative = negative};
  const char* e = std::find(text, end, 'e');
  std::copy_if(text, e, std::back_inserter(d.digits), [](char c) { return c != '.'; });
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, d.exponent);
  return d;
}

template <typename Float>
Decimal shortest(Float value) {
  std::array<char, 64> text;
  const char* end =
      std::to_chars(text.begin(), text.end(), std::fabs(value), std::chars_format::scientific).ptr;
  return parse_scientific(text.data(), end, std::signbit(value));
}

template <typename Float>
std::string float_repr(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const Decimal d = shortest(value);
  return d.exponent < -4 || d.exponent >= 16 ? scientific_text(d) : positional_text(d);
}

template <typename T, typename Repr>
std::string list_repr(std::span<const T> values, Repr repr) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ", ";
    out += repr(values[i]);
  }
  return out + "]";
}

/// False for controls, formats, separators and private use, all of which Python escapes.
bool is_printable(uint32_t point) {
  struct Range {
    uint32_t first, last;
  };
  constexpr Range kHidden[] = {{0x00, 0x1f},       {0x7f, 0xa0},       {0xad, 0xad},       {0x600, 0x605},
                               {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
                               {0x8e2, 0x8e2},     {0x1680, 0x1680},   {0x180e, 0x180e},   {0x2000, 0x200f},
                               {0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000},   {0xe000, 0xf8ff},
                               {0xfeff, 0xfeff},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},   {0x110bd, 0x110bd},
                               {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
                               {0xe0000, 0xe00ff}, {0xf0000, 0x10ffff}};
  return std::none_of(std::begin(kHidden), std::end(kHidden),
                      [&](const Range& r) { return point >= r.first && point <= r.last; });
}

std::string hex_escape(uint32_t point) {
  if (point < 0x100) return fmt::format("\\x{:02x}", point);
  return point < 0x10000 ? fmt::format("\\u{:04x}", point) : fmt::format("\\U{:08x}", point);
}

std::string escape(uint32_t point) {
  switch (point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\\':
      return "\\\\";
    default:
      return hex_escape(point);
  }
}

}  // namespace

Decimal shortest_decimal(double value) { return shortest(value); }
Decimal shortest_decimal(float value) { return shortest(value); }

Decimal rounded_decimal(double value, int precision) {
  std::string text(static_cast<size_t>(precision) + 16, '\0');
  char* first = text.data();
  const char* end =
      std::to_chars(first, first + text.size(), std::fabs(value), std::chars_format::scientific, precision)
          .ptr;
  return parse_scientific(first, end, std::signbit(value));
}

std::string scientific_text(const Decimal& d) {
  const std::string fraction = d.digits.size() > 1 ? "." + d.digits.substr(1) : "";
  return fmt::format("{}{}{}e{}{:02}", d.negative ? "-" : "", d.digits[0], fraction,
                     d.exponent < 0 ? '-' : '+', std::abs(d.exponent));
}

std::string positional_text(const Decimal& d) {
  const std::string sign = d.negative ? "-" : "";
  const int count = static_cast<int>(d.digits.size());
  if (d.exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-d.exponent - 1), '0') + d.digits;
  if (count <= d.exponent + 1)
    return sign + d.digits + std::string(static_cast<size_t>(d.exponent + 1 - count), '0') + ".0";
  const auto point = static_cast<size_t>(d.exponent + 1);
  return sign + d.digits.substr(0, point) + "." + d.digits.substr(point);
}

std::string python_float_repr(double value) { return float_repr(value); }
std::string python_float_repr(float value) { return float_repr(value); }

std::string python_str_repr(std::string_view text) {
  const bool only_single = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = only_single ? '"' : '\'';
  std::string out(1, quote);
  while (!text.empty()) {
    const std::string_view rest = text;
    const char32_t point = take_code_point(text);
    if (rest[0] == quote)
      (out += '\\') += quote;
    else if (point == kNotUtf8)
      out += escape(static_cast<unsigned char>(rest[0]));
    else if (point == '\\' || !is_printable(point))
      out += escape(point);
    else
      out += rest.substr(0, rest.size() - text.size());
  }
  return out + quote;
}

std::string python_list_repr(std::span<const int64_t> values) {
  return list_repr(values, [](int64_t v) { return std::to_string(v); });
}
std::string python_list_repr(std::span<const double> values) {
  return list_repr(values, [](double v) { return python_float_repr(v); });
}
std::string python_list_repr(std::span<const std::string> values) {
  return list_repr(values, [](const std::string& v) { return python_str_repr(v); });
}

std::string format_g(double value, int precision) {
  if (std::isnan(value)) return "nan";
  return fmt::format("{:.{}g}", value, precision);
}

}  // namespace assay
