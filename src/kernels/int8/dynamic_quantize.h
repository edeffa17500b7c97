// Quantization to uint8 by the data's own range.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// The divisor of the numbers, and the offset of their quantized values.
struct DynamicRange {
  float scale = 1;
  uint8_t zero_point = 0;
};

/// The scale and zero point for the range of x, widened to include 0; NaNs are left out of it, and zeros
/// alone have the scale 1.
DynamicRange dynamic_range(const float* x, int64_t count) noexcept;

/// y[i] = saturate(round(x[i] / scale) + zero_point), halves to even; NaN gives 0.
void quantize_uint8(const float* x, int64_t count, const DynamicRange& range, uint8_t* y) noexcept;

}  // namespace assay::kernels
