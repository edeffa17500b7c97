// Operands of the quantized operators of com.microsoft: one scale and one zero point for a whole tensor; a
// zero point that is left out is 0.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// The inputs that hold a quantized operand.
struct QuantizedInput {
  size_t levels, scale, zero;
};

/// (q - zero point) * scale, in float64. Throws Error unless scale and zero point have one element.
Tensor dequantized(const EvalContext& c, const QuantizedInput& in);

/// The number in input i, or 0 when it is left out. Throws Error when there are more.
double zero_point_or_0(const EvalContext& c, size_t i);

/// Throws Error when the scale or the zero point of an operand is known not to have one element.
void check_quantized(const InferContext& c, const QuantizedInput& in);

/// Quantizes real numbers: x / scale rounded to the nearest, ties to even, plus the zero point,
/// saturated. The quotient is taken in float64.
class Requantizer {
 public:
  /// Reads scale and zero point of the result. With `u` > 0 every quotient gets a random error, as float
  /// arithmetic of that unit roundoff makes it, so that values near a tie may round either way; it depends on
  /// `key` and the position only.
  Requantizer(const EvalContext& c, size_t scale, size_t zero, DType to, double u = 0, uint64_t key = 0);

  /// Numbers whose computation passes through numbers of up to `size` and takes some `roundings`.
  Tensor operator()(const Tensor& real, double size, double roundings) const;

  double scale() const { return scale_; }

 private:
  double scale_, zero_;
  DType to_;
  double u_;
  uint64_t key_;
};

/// An operator with a quantized result is written once, as compute(c, u, key), where u = 0 asks for the
/// values and u > 0 for those of a noisy arithmetic (Numerics::perturb).
template <void (*kCompute)(EvalContext&, double u, uint64_t key)>
void eval_quantized(EvalContext& c) {
  kCompute(c, 0, 0);
}
/// Quantized values have no unit roundoff; they are computed in float32.
template <void (*kCompute)(EvalContext&, double u, uint64_t key)>
void perturb_quantized(EvalContext& c, double, uint64_t key) {
  kCompute(c, unit_roundoff(DType::kFloat32), key);
}

/// The largest magnitude that an 8-bit operand can have.
double largest_operand(const EvalContext& c, const QuantizedInput& in);

}  // namespace assay
