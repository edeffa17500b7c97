// Random weights for models whose weights are uniform constants.
#pragma once

#include <cstdint>

#include <optional>

#include "assay/graph.h"
#include "tensor/random_weights.h"

namespace assay {

/// Replaces every float32 weight whose elements are all equal (initializers, and results of ConstantOfShape)
/// by seeded random numbers of a scale that keeps activations sane: He-normal for convolutions and products,
/// about 1 for scales and variances, small for biases and means. With constant weights all channels are
/// equal, which hides errors. Same model and seed, same weights. Returns how many tensors were replaced.
int64_t randomize_weights(Model& model, uint64_t seed);

/// The distribution for a constant of that shape, by its first significant use; nothing when there is none.
std::optional<Init> init_by_use(const Value& v, const Shape& shape, const Model& model);

}  // namespace assay
