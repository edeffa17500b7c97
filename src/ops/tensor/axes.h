// Axes, indices and known integers: steps that the tensor operators share.
#pragma once

#include <optional>
#include <vector>

#include "ops/op_context.h"

namespace assay {

/// Each axis in [0, rank), in the order given; throws Error for one outside [-rank, rank) or named twice.
std::vector<size_t> normalize_axes(const std::vector<int64_t>& axes, size_t rank);

/// The attribute `axes`, normalized, or every axis when the node leaves it out.
std::vector<size_t> axes_or_all(const OpContext& c, size_t rank);

[[noreturn]] void index_out_of_range(int64_t index, int64_t extent, size_t axis);

/// Turns an index in [-extent, extent) into [0, extent); throws Error naming index, axis and extent
/// otherwise.
inline int64_t resolve_index(int64_t index, int64_t extent, size_t axis) {
  if (index < -extent || index >= extent) [[unlikely]]
    index_out_of_range(index, extent, axis);
  return index < 0 ? index + extent : index;
}

/// The elements of integer input i when they are known before the model runs.
std::optional<std::vector<int64_t>> known_integers(const InferContext& c, size_t i);

/// The integers of input i of eval; throws Error when it is not a vector (or, with `or_scalar`, a scalar).
std::vector<int64_t> integer_list(const EvalContext& c, size_t i, bool or_scalar = false);

/// The conditions of integer_list(), as far as they are known before the model runs: throws Error when input
/// i has another rank. Code that rewrites nodes relies on it.
void check_list(const InferContext& c, size_t i, bool or_scalar = false);

/// The number of elements of input i when it is a vector of known length; -1 otherwise.
int64_t known_length(const InferContext& c, size_t i);

/// Output i holds the integers that input 0 holds, in their order.
void propagate_integers(InferContext& c, size_t i = 0);

/// Merges what two sources say of one extent: a number beats a symbol, a symbol beats nothing. Throws Error
/// when they are two different numbers.
Dim merge_dim(const Dim& a, const Dim& b);

/// The longest list of extents that is tracked through a model.
inline constexpr size_t kLongestExtents = 64;

}  // namespace assay
