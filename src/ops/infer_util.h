// Shape inference steps that many operators share.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Output i has input 0's type and shape.
void infer_same_as_input(InferContext& c);
/// Output 0 has input 0's element type and the broadcast shape of all inputs.
void infer_broadcast(InferContext& c);
/// Output 0 is bool with the broadcast shape of all inputs.
void infer_broadcast_bool(InferContext& c);

/// NumPy broadcasting with unknown extents: known beats unknown, a known extent over 1 wins. Throws Error
/// when two known extents do not match.
Dim broadcast_dim(const Dim& a, const Dim& b);
Dims broadcast_dims(const Dims& a, const Dims& b);

/// Arithmetic on extents: exact when both are known, a symbolic expression when the text stays short, else
/// unknown.
Dim dim_add(const Dim& a, const Dim& b);
Dim dim_sub(const Dim& a, const Dim& b);
Dim dim_mul(const Dim& a, const Dim& b);
Dim dim_floor_div(const Dim& a, const Dim& b);
/// Product of the extents in [first, last).
Dim dim_product(const Dims& dims, size_t first, size_t last);

}  // namespace assay
