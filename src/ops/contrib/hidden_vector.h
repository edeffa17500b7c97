// Vectors that go along the last dimension of an input: biases, and the scales and shifts of a layer
// normalization.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Throws Error when input i is given and known not to be a vector of as many elements as the last extent of
/// input 0.
void check_hidden_vector(const InferContext& c, size_t i);
/// Input i. Throws Error unless it has shape [size].
const Tensor& hidden_vector(const EvalContext& c, size_t i, int64_t size);

}  // namespace assay
