#include "tensor/float_range.h"

#include <cmath>

#include "tensor/narrow_float.h"

namespace assay {
namespace {

template <typename Format>
FloatRange range_of() {
  constexpr int kMantissa = Format::kMantissaBits, kExponent = (Format::kMax >> kMantissa) - Format::kBias;
  constexpr uint32_t kFraction = Format::kMax & ((1u << kMantissa) - 1);
  return {std::ldexp(1, 1 - Format::kBias - kMantissa),
          std::ldexp(static_cast<double>((1u << kMantissa) + kFraction), kExponent - kMantissa),
          std::ldexp(1, 1 - Format::kBias)};
}

}  // namespace

FloatRange float_range(DType t) {
  switch (t) {
    case DType::kFloat64:
      return {0x1p-1074, 0x1.fffffffffffffp1023, 0x1p-1022};
    case DType::kFloat16:
      return range_of<Float16Format>();
    case DType::kBFloat16:
      return range_of<BFloat16Format>();
    case DType::kFloat8E4M3FN:
      return range_of<Float8E4M3FNFormat>();
    case DType::kFloat8E4M3FNUZ:
      return range_of<Float8E4M3FNUZFormat>();
    case DType::kFloat8E5M2:
      return range_of<Float8E5M2Format>();
    case DType::kFloat8E5M2FNUZ:
      return range_of<Float8E5M2FNUZFormat>();
    case DType::kFloat4E2M1:
      return range_of<Float4E2M1Format>();
    case DType::kFloat6E2M3:
      return range_of<Float6E2M3Format>();
    case DType::kFloat6E3M2:
      return range_of<Float6E3M2Format>();
    case DType::kFloat8E8M0:
      return {0x1p-127, 0x1p127, 0x1p-127};
    default:
      return {0x1p-149, 0x1.fffffep127, 0x1p-126};
  }
}

}  // namespace assay
