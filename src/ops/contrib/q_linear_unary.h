// Element-wise operators on one quantized operand: Y = quantize(f(dequantize(X))).
#pragma once

#include "ops/contrib/quantized.h"
#include "ops/eval_util.h"

namespace assay {

/// Inputs: X, its scale and zero point, those of Y. Output Y has X's type and shape.
void infer_q_linear_unary(InferContext& c);

/// `size`: the largest magnitude that f computes with for 8-bit values.
template <typename F>
void eval_q_linear_unary(EvalContext& c, double u, uint64_t key, F f, double size) {
  constexpr double kRoundings = 8;
  const Requantizer requantize(c, 3, 4, c.input(0).dtype(), u, key);
  c.set_output(0, requantize(map_elements<double>(dequantized(c, {0, 1, 2}), f), size, kRoundings));
}

}  // namespace assay
