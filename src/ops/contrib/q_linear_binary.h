// Element-wise operators on two quantized operands with a quantized result: QLinearAdd and QLinearMul.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Inputs: A, its scale and zero point, B and its, the scale and zero point of C. Output C has A's type and
/// the broadcast shape.
void infer_q_linear_binary(InferContext& c);

/// C is the requantized f(A, B). `largest` bounds the magnitudes that f computes with, given those of the
/// operands.
void eval_q_linear_binary(EvalContext& c, double u, uint64_t key, double (*f)(double, double),
                          double (*largest)(double, double));

}  // namespace assay
