// Shared by Cast and CastLike.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Output 0 has the shape of input 0 and the element type `to`; integers that are known stay known.
void infer_cast(InferContext& c, DType to);

/// Input 0 in the type that the model declares for it:
/// the float64 reference passes every float as float64.
Tensor stored_input(const EvalContext& c);

/// Input 0 converted under the attributes saturate and round_mode of the version in force. In the float64
/// reference (EvalContext::ideal) a cast to a float type keeps the value unrounded, but a number that
/// overflows the type still becomes what the type has for it: its largest value, infinity or NaN; and a
/// string is that of the declared type.
void eval_cast(EvalContext& c, DType to);

}  // namespace assay
