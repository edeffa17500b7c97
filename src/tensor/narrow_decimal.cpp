#include "tensor/narrow_decimal.h"

#include <array>
#include <charconv>
#include <cmath>

#include "assay/error.h"
#include "tensor/narrow_float.h"

namespace assay {
namespace {

/// Calls f with the value of the code and the function that rounds a double to the type.
template <typename F>
auto visit_format(DType dtype, uint32_t code, F&& f) {
  const auto as = [&]<typename Format>(Format) {
    return f(decode<Format>(code), [](double x) { return encode<Format>(x, false); });
  };
  switch (dtype) {
    case DType::kFloat16:
      return as(Float16Format{});
    case DType::kBFloat16:
      return as(BFloat16Format{});
    case DType::kFloat8E4M3FN:
      return as(Float8E4M3FNFormat{});
    case DType::kFloat8E4M3FNUZ:
      return as(Float8E4M3FNUZFormat{});
    case DType::kFloat8E5M2:
      return as(Float8E5M2Format{});
    case DType::kFloat8E5M2FNUZ:
      return as(Float8E5M2FNUZFormat{});
    case DType::kFloat4E2M1:
      return as(Float4E2M1Format{});
    case DType::kFloat8E8M0:
      return f(decode_e8m0(code), [](double x) { return encode_e8m0(x, false, E8M0Rounding::kNearest); });
    default:
      fail(ErrorCode::kInternal, "{} is no narrow floating type", dtype_name(dtype));
  }
}

/// The number with its digits read as an integer raised by `step` in the last place.
double stepped(const Decimal& d, int step) {
  int64_t digits = 0;
  std::from_chars(d.digits.data(), d.digits.data() + d.digits.size(), digits);
  const std::string text = std::to_string(digits + step) + "e" +
                           std::to_string(d.exponent - static_cast<int>(d.digits.size()) + 1);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return d.negative ? -value : value;
}

Decimal rounded_to_digits(float value, int precision) {
  std::array<char, 64> text;
  const char* end =
      std::to_chars(text.begin(), text.end(), std::fabs(value), std::chars_format::scientific, precision - 1)
          .ptr;
  Decimal d{.negative = std::signbit(value)};
  const char* p = text.data();
  for (; *p != 'e'; ++p)
    if (*p != '.') d.digits += *p;
  std::from_chars(p[1] == '+' ? p + 2 : p + 1, end, d.exponent);
  return d;
}

}  // namespace

Decimal shortest_decimal(DType dtype, uint32_t code) {
  return visit_format(dtype, code, [](float value, auto encode_again) {
    const uint32_t self = encode_again(static_cast<double>(value));
    for (int precision = 1;; ++precision) {
      const Decimal d = rounded_to_digits(value, precision);
      // At a power of two the numbers below lie closer together, so the far neighbour may do where the near
      // does not.
      for (const int step : {0, 1, -1}) {
        const double candidate = stepped(d, step);
        if (encode_again(candidate) == self) return shortest_decimal(candidate);
      }
    }
  });
}

std::string narrow_float_repr(DType dtype, uint32_t code) {
  const float value = visit_format(dtype, code, [](float v, auto) { return v; });
  return std::isfinite(value) ? python_float_repr(shortest_decimal(dtype, code)) : python_float_repr(value);
}

}  // namespace assay
