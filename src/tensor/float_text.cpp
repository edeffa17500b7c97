#include "tensor/float_text.h"

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
    case DType::kFloat6E2M3:
      return as(Float6E2M3Format{});
    case DType::kFloat6E3M2:
      return as(Float6E3M2Format{});
    case DType::kFloat8E8M0:
      return f(decode_e8m0(code), [](double x) { return encode_e8m0(x, false, E8M0Rounding::kNearest); });
    default:
      fail(ErrorCode::kInternal, "{} is not a narrow floating type", dtype_name(dtype));
  }
}

double to_double(const Decimal& d) {
  const std::string text = scientific_text(d);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// NumPy's choice between positional and scientific depends on the value, not on its digits.
std::string numpy_layout(double value, const Decimal& digits, double scientific_from) {
  const double magnitude = std::fabs(value);
  const bool scientific = magnitude >= scientific_from || (magnitude < 1e-4 && magnitude != 0);
  return scientific ? scientific_text(digits) : positional_text(digits);
}

template <typename Float>
std::string numpy_str(Float value, double scientific_from) {
  if (!std::isfinite(value)) return python_float_repr(value);
  return numpy_layout(value, shortest_decimal(value), scientific_from);
}

}  // namespace

Decimal stepped_decimal(const Decimal& d, int step) {
  constexpr size_t kMaxDigits = 18;
  if (d.digits.size() > kMaxDigits || step == 0) return d;
  int64_t digits = 0;
  std::from_chars(d.digits.data(), d.digits.data() + d.digits.size(), digits);
  const std::string moved = std::to_string(digits + step);
  return {d.negative, moved, d.exponent + static_cast<int>(moved.size()) - static_cast<int>(d.digits.size())};
}

Decimal shortest_decimal(DType dtype, uint32_t code) {
  return visit_format(dtype, code, [](float value, auto encode_again) {
    const uint32_t self = encode_again(static_cast<double>(value));
    for (int precision = 0;; ++precision) {
      const Decimal d = rounded_decimal(value, precision);
      // At a power of two the numbers below are closer together, so the far neighbour may be identifying
      // where the near one is not.
      for (const int step : {0, 1, -1}) {
        const double candidate = to_double(stepped_decimal(d, step));
        if (encode_again(candidate) == self) return shortest_decimal(candidate);
      }
    }
  });
}

std::string numpy_float_str(double value) { return numpy_str(value, 1e16); }
std::string numpy_float_str(float value) { return numpy_str(value, 1e6); }

std::string numpy_float_str(DType dtype, uint32_t code) {
  const double value = visit_format(dtype, code, [](float v, auto) { return v; });
  if (!std::isfinite(value)) return python_float_repr(value);
  return numpy_layout(value, shortest_decimal(dtype, code), dtype == DType::kFloat16 ? 1e3 : 1e16);
}

}  // namespace assay
