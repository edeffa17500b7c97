// Broadcasting before NumPy's rule. Of two inputs before opset 7: asked for with the attribute
// `broadcast`, and only of the second input to the first, whose dimensions it meets from the attribute
// `axis` on (the last ones without it). Of a list of inputs before opset 8: none.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Output 0 has the type and shape of input 0. Throws Error when input 1 does not fit.
void infer_legacy_broadcast(InferContext& c);
/// The same for operators that give bool.
void infer_legacy_broadcast_bool(InferContext& c);

/// The shape that lets NumPy's rule broadcast the second input to the first. Throws Error when it does not
/// fit.
Shape legacy_second_shape(const OpContext& c, const Shape& first, const Shape& second);

/// Evaluates with `kEval`, which follows NumPy's rule.
template <void (*kEval)(EvalContext&)>
void eval_legacy_broadcast(EvalContext& c) {
  const Shape second = legacy_second_shape(c, c.shape(0), c.shape(1));
  EvalContext aligned(c.node(), c.op(), c.version(), {c.input(0), c.input(1).reshaped(second)});
  kEval(aligned);
  c.set_output(0, std::move(aligned.outputs()[0]));
}

/// Output 0 has the type of input 0 and the shape that all inputs have. Throws Error when they differ.
void infer_equal_shapes(InferContext& c);
/// Throws Error when the inputs differ in shape.
void check_equal_shapes(const EvalContext& c);

/// Evaluates with `kEval` after check_equal_shapes().
template <void (*kEval)(EvalContext&)>
void eval_equal_shapes(EvalContext& c) {
  check_equal_shapes(c);
  kEval(c);
}

}  // namespace assay
