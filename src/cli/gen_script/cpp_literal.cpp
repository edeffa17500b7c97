#include "cli/gen_script/cpp_literal.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/python_repr.h"

namespace assay::cli {

std::string cpp_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '?')
      out += fmt::format("\\{}", c);
    else if (c >= 0x20 && c < 0x7f)
      out += c;
    else
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return out + "\"";
}

std::string cpp_strings(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + cpp_string(text);
  return out;
}

std::string cpp_integer(int64_t value) {
  // The smallest integer has no literal, since its absolute value is out of range.
  return value == std::numeric_limits<int64_t>::min() ? "std::numeric_limits<std::int64_t>::min()"
                                                      : std::to_string(value);
}

std::string cpp_double(double value) {
  if (std::isnan(value)) return "std::numeric_limits<double>::quiet_NaN()";
  if (std::isinf(value)) return std::string(value < 0 ? "-" : "") + "std::numeric_limits<double>::infinity()";
  return python_float_repr(value);
}

std::string cpp_number(const Tolerance& value) {
  return value.integral ? cpp_integer(static_cast<int64_t>(value.value)) : cpp_double(value.value);
}

std::string cpp_dims(const Dims& dims) {
  std::string out;
  for (const Dim& d : dims)
    out += (out.empty() ? "" : ", ") +
           (d.is_symbol() ? "Dim::symbol(" + cpp_string(d.symbol()) + ")" : std::to_string(d.value()));
  return "{" + out + "}";
}

}  // namespace assay::cli
