// Linear quantization: the scale of an element, and how a number is quantized.
#pragma once

#include <vector>

#include "ops/op_context.h"

namespace assay {

/// Which element of the scale (and of the zero point, which has its shape) belongs to which element of the
/// data: one for all, one for each index along an axis, or one for each block along an axis.
class QuantGrid {
 public:
  /// Reads the attributes axis and block_size. Throws Error when the scale's shape suits none of the three.
  QuantGrid(const OpContext& c, const Shape& data, const Shape& scale);

  /// Calls f(first, count, index, step): elements [first, first + count) have the scales index, index + step,
  /// ...
  template <typename F>
  void for_each_run(F f) const {
    for (int64_t o = 0; o < outer_; ++o)
      for (int64_t i = 0; i < extent_; ++i)
        f((o * extent_ + i) * inner_, inner_, o * outer_step_ + i / block_ * block_step_, inner_step_);
  }

 private:
  int64_t outer_, extent_, inner_, block_ = 1;
  int64_t outer_step_ = 0, block_step_ = 0, inner_step_ = 0;
};

/// Throws Error when a zero point and its scale, or a scale and the data, do not fit together. Inputs: data,
/// scale, zero point.
void check_quant_shapes(const InferContext& c);

/// True for the integer types of 2 to 16 bits that tensors are quantized to.
bool is_quantized_integer(DType t);

/// Real numbers, already scaled, in a quantized type: to an integer type rounded to the nearest,
/// ties to even, then shifted by the zero point and clamped (NaN gives the lowest value); to a float type
/// shifted, then converted.
double level_of(double scaled, double zero_point, DType to);
/// The quantized values, one per element, stored in the type.
Tensor store_quantized(const Tensor& levels, DType to, bool saturate = true);

}  // namespace assay
