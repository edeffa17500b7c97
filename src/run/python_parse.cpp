#include "run/python_parse.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>

namespace assay {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\v\f";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes underscores that stand between digits; nothing when one stands elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    if (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1]))
      return std::nullopt;
  }
  return out;
}

/// The grammar of a decimal floating-point literal without sign.
bool is_decimal(std::string_view text) {
  size_t i = 0, digits = 0;
  const auto skip_digits = [&] {
    const size_t first = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - first;
  };
  digits = skip_digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    digits += skip_digits();
  }
  if (digits == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (skip_digits() == 0) return false;
  }
  return i == text.size();
}

}  // namespace

std::string_view python_strip(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<int64_t> python_int(std::string_view text) {
  text = python_strip(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  const auto digits = without_underscores(text);
  if (!digits || digits->empty()) return std::nullopt;
  int64_t value = 0;
  const char* last = digits->data() + digits->size();
  const auto [end, error] = std::from_chars(digits->data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<double> python_float(std::string_view text) {
  text = python_strip(text);
  const auto plain = without_underscores(text);
  if (!plain) return std::nullopt;
  std::string_view body = *plain;
  double sign = 1;
  if (body.starts_with('+') || body.starts_with('-')) {
    sign = body[0] == '-' ? -1 : 1;
    body.remove_prefix(1);
  }
  std::string lower(body);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "inf" || lower == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (!is_decimal(body)) return std::nullopt;
  // strtod and not from_chars: 1e999 is infinity and 1e-999 is 0 in Python.
  return sign * std::strtod(std::string(body).c_str(), nullptr);
}

}  // namespace assay
