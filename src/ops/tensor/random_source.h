// Shared by the random operators: the generator of a node, and its result type.
#pragma once

#include "ops/op_context.h"
#include "tensor/random.h"

namespace assay {

/// numpy.random.RandomState, seeded by the attribute `seed`, else by the name of the node's first output:
/// other nodes draw other numbers; every run draws the same, in the reference and in the engine.
RandomState random_source(const EvalContext& c);
/// The seed of a node without the attribute.
uint32_t seed_by_name(const EvalContext& c);

/// The attribute `dtype`, or `otherwise` when the node leaves it out. Throws Error for an unknown type.
DType random_dtype(const OpContext& c, DType otherwise);

/// Output 0 has the shape of input 0 and random_dtype of its element type.
void infer_random_like(InferContext& c);

/// Output 0: samples drawn as float64, for floats as they are, else converted to the declared type.
void set_random_output(EvalContext& c, Tensor samples, DType dtype);

/// A shape attribute whose extents are checked, and whose size checked_allocation would allow.
Shape random_shape(const OpContext& c);

/// The two distributions, from the attributes mean and scale, or low and high.
Tensor draw_normal(const EvalContext& c, const Shape& shape);
Tensor draw_uniform(const EvalContext& c, const Shape& shape);

}  // namespace assay
