// From exact sums to 8-bit levels: what happens between a product and the QuantizeLinear behind it.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// What remains of an epilogue that ends in QuantizeLinear.
struct Requantization {
  float low, high;  ///< bounds before it, as of Relu and Clip; infinite: none
  float scale;
  int zero_point;
  bool is_signed;
};

/// Sums in rows that are `stride` numbers apart.
struct SumRows {
  const int32_t* sums;
  int64_t stride, rows, columns;
};

/// q[r, c] = saturate(round(clip(sums[r, c] * scale[c] + bias[c]) / r.scale) + r.zero_point), to the last bit
/// as these operators one by one in float32, the product and the sum fused. NaN becomes the lower bound.
/// `bias` may be null. Rows of q are `pitch` bytes apart.
void requantize(const SumRows& from, const float* scale, const float* bias, const Requantization& r, void* q,
                int64_t pitch) noexcept;

}  // namespace assay::kernels
