#include "tensor/convert_string.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/python_repr.h"
#include "tensor/float_text.h"

namespace assay::internal {
namespace {

/// Python's white space within ASCII.
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

std::string_view strip(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

[[noreturn]] void not_a_number(const std::string& text, DType to) {
  fail(ErrorCode::kInvalidArgument, "the string {} cannot be converted to {}", python_str_repr(text),
       dtype_name(to));
}

/// A decimal or special literal; false for other text.
bool parse_double(std::string_view s, double& value) {
  const bool negative = s.starts_with('-');
  if (negative || s.starts_with('+')) s.remove_prefix(1);
  if (s.empty() || s[0] == '-' || s[0] == '+' || s.find('(') != s.npos) return false;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (end != s.data() + s.size() || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) {
    // Too large or too small: the sign of the decimal exponent decides.
    const std::string copy(s);
    value = std::strtod(copy.c_str(), nullptr);
  }
  if (negative) value = -value;
  return true;
}

double parse_number(const std::string& text, DType to) {
  const std::string_view s = strip(text);
  double value = 0;
  if (parse_double(s, value)) return value;
  if (to == DType::kBool && (s == "True" || s == "False")) return s == "True" ? 1 : 0;
  not_a_number(text, to);
}

/// Integers are parsed as such, so that all 64 bits are kept; other numbers are truncated.
template <typename Int>
Int parse_integer(const std::string& text, DType to) {
  std::string_view s = strip(text);
  if (s.starts_with('+') && !s.starts_with("+-")) s.remove_prefix(1);
  Int value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error == std::errc() && end == s.data() + s.size()) return value;
  const double number = parse_number(text, to);
  const double limit = std::ldexp(1.0, std::is_signed_v<Int> ? 63 : 64);
  if (!(std::fabs(number) < limit) || (!std::is_signed_v<Int> && number <= -1)) not_a_number(text, to);
  return static_cast<Int>(number);
}

template <typename Int>
Tensor parse_integers(const Tensor& t, DType to) {
  Tensor wide = Tensor::allocate(dtype_of<Int>(), t.shape());
  const std::string* in = t.data<std::string>();
  Int* out = wide.mutable_data<Int>();
  for (int64_t i = 0; i < t.numel(); ++i) out[i] = parse_integer<Int>(in[i], to);
  return wide;
}

}  // namespace

Tensor numbers_to_strings(const Tensor& t) {
  Tensor out = Tensor::allocate(DType::kString, t.shape());
  std::string* y = out.mutable_data<std::string>();
  const auto each = [&](auto&& text) {
    for (int64_t i = 0; i < t.numel(); ++i) y[i] = text(i);
  };
  const DType dtype = t.dtype();
  if (dtype == DType::kBool) {
    each([p = static_cast<const uint8_t*>(t.data())](int64_t i) { return p[i] != 0 ? "True" : "False"; });
  } else if (dtype == DType::kUInt64) {
    each([p = t.data<uint64_t>()](int64_t i) { return std::to_string(p[i]); });
  } else if (dtype == DType::kInt64) {
    each([p = t.data<int64_t>()](int64_t i) { return std::to_string(p[i]); });
  } else if (dtype == DType::kFloat64) {
    each([p = t.data<double>()](int64_t i) { return numpy_float_str(p[i]); });
  } else if (dtype == DType::kFloat32) {
    each([p = t.data<float>()](int64_t i) { return numpy_float_str(p[i]); });
  } else if (bit_width(dtype) == 16) {
    each([&, p = static_cast<const uint16_t*>(t.data())](int64_t i) { return numpy_float_str(dtype, p[i]); });
  } else {
    each([&, p = static_cast<const uint8_t*>(t.data())](int64_t i) { return numpy_float_str(dtype, p[i]); });
  }
  return out;
}

Tensor strings_to_numbers(const Tensor& t, DType to) {
  if (to == DType::kUInt64) return parse_integers<uint64_t>(t, to);
  if (is_integer(to)) return parse_integers<int64_t>(t, to);
  const std::string* in = t.data<std::string>();
  Tensor wide = Tensor::allocate(DType::kFloat64, t.shape());
  double* out = wide.mutable_data<double>();
  for (int64_t i = 0; i < t.numel(); ++i) out[i] = parse_number(in[i], to);
  return wide;
}

}  // namespace assay::internal
