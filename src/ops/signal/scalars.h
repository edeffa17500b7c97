// Scalar inputs and the output type of the signal operators.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// The attribute output_datatype. Throws Error when it is not a numeric element type.
DType read_output_datatype(const OpContext& c);

/// The one element of integer input i, `name` in messages. Throws Error when it has another number of
/// elements.
int64_t integer_scalar(const EvalContext& c, size_t i, const char* name);
/// The same for a floating-point input.
double float_scalar(const EvalContext& c, size_t i, const char* name);

/// The one element of integer input i as an extent, as far as it is known.
Dim scalar_extent(const InferContext& c, size_t i);

}  // namespace assay
