// From exact sums to 8-bit quantized values: the steps between a product and the QuantizeLinear after it.
#pragma once

#include <cstdint>

#include "kernels/pointwise/program.h"

namespace assay::kernels {

/// The rest of an epilogue that ends in QuantizeLinear.
struct Requantization {
  float low, high;  ///< bounds before it, as of Relu and Clip; infinite: none
  float scale;
  int zero_point;
  bool is_signed;
};

/// How a block of sums is quantized, and where the result goes: requantize() without the sums. Scales and
/// biases are those of its columns; `bias` may be null. Rows of q are `pitch` bytes apart.
struct QuantizedEpilogue {
  const float *scale, *bias;
  Requantization requantization;
  void* q;
  int64_t pitch;

  /// That of a block that begins `rows` and `columns` further on.
  QuantizedEpilogue at(int64_t rows, int64_t columns) const {
    return {scale + columns, bias == nullptr ? nullptr : bias + columns, requantization,
            static_cast<char*>(q) + rows * pitch + columns, pitch};
  }
};

/// Sums in rows that are `stride` numbers apart.
struct SumRows {
  const int32_t* sums;
  int64_t stride, rows, columns;
};

/// end.q[r, c] = saturate(round(clip(sums[r, c] * scale[c] + bias[c]) / scale) + zero_point), bitwise equal
/// to these operators one by one in float32, the product and the sum fused. NaN becomes the lower bound.
void requantize(const SumRows& from, const QuantizedEpilogue& end) noexcept;

/// A tensor that is added to a block of sums: (x[r, c] - zero_point) * scale, rows `pitch` bytes apart.
struct QuantizedAddend {
  const void* x;
  int64_t pitch;
  bool is_signed;
  float scale, zero_point;
};

/// The steps between a sum and its quantization: function(sums[r, c] * scale[c] + bias[c]) + addend[r, c].
struct SumFunction {
  /// Clip (infinite: no bound), Gelu, GeluTanh, HardSigmoid, HardSwish, LeakyRelu, Sigmoid or Silu.
  PointwiseOp op = PointwiseOp::kClip;
  float a, b;                               ///< the function's parameters
  const QuantizedAddend* addend = nullptr;  ///< null: none
};

/// requantize() of that: the bounds are those of the whole sum.
void requantize_function(const SumRows& from, const QuantizedEpilogue& end,
                         const SumFunction& function) noexcept;

}  // namespace assay::kernels
