// The most common epilogues of a convolution: an addend, a function of the sum, and a factor and a shift of
// each channel.
#pragma once

#include <cstdint>

#include "kernels/pointwise/program.h"

namespace assay::kernels {

struct EpilogueParameters {
  float a, b;  ///< the function's parameters
  /// Clip (infinite: no bound), Gelu, GeluTanh, HardSigmoid, HardSwish, LeakyRelu, Sigmoid or Silu.
  PointwiseOp function = PointwiseOp::kClip;
  bool adds_last = false;  ///< the addend is added at the end, not to what the function is taken of
  /// In place of columns' factors and shifts where there are none.
  float scale = 1, shift = -0.0F;
};

/// Further operands, read in addition to the numbers; null: none.
struct EpilogueOperands {
  const float* addend = nullptr;
  int64_t addend_stride = 0;
  /// Of each column: a factor of the function's result, and what is added then.
  const float *factors = nullptr, *shifts = nullptr;
};

/// The function's result is scaled or shifted.
inline bool are_scaled(const EpilogueParameters& finish, const EpilogueOperands& operands) {
  return operands.factors != nullptr || operands.shifts != nullptr || finish.scale != 1 || finish.shift != 0;
}

/// y[r, c] = function(x[r, c] + addend[r, c]) * factors[c] + shifts[c] for columns of rows that are this far
/// apart; or the same with the addend added last. NaN stays NaN. y may be x where the strides are equal.
void row_epilogue(const EpilogueParameters& finish, int64_t rows, int64_t columns, const float* x,
                  int64_t x_stride, const EpilogueOperands& operands, float* y, int64_t y_stride) noexcept;

}  // namespace assay::kernels
