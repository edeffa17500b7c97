// The commonest ends of a convolution: something is added, and a function bounds or bends the sum.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// What becomes of a number; a and b are the parameters of FinishRows. The functions are those of the
/// pointwise instructions of these names.
enum class FinishFunction : uint8_t {
  kClip,  ///< to [a, b]; infinite: no bound
  kGelu,
  kGeluTanh,
  kHardSigmoid,
  kHardSwish,
  kSigmoid,
  kSilu,
};

struct FinishRows {
  float a, b;
  FinishFunction function = FinishFunction::kClip;
  bool adds_last = false;  ///< the addend is added to the function's result, not to what it is taken of
};

/// y[r, c] = function(x[r, c] + addend[r, c]) for columns of rows that lie so far apart; or function(x[r, c])
/// + addend[r, c]. `addend` may be null. NaN stays NaN. y may be x where the strides are equal.
void finish_rows(const FinishRows& finish, int64_t rows, int64_t columns, const float* x, int64_t x_stride,
                 const float* addend, int64_t addend_stride, float* y, int64_t y_stride) noexcept;

}  // namespace assay::kernels
