// Conclusions of passes from extents that may be symbolic.
#pragma once

#include <optional>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Null when the rank is unknown.
const Dims* dims_of(const Value* v);

/// True when both have the same rank and equal extents, numbers or symbols.
bool same_dims(const Value* a, const Value* b);

/// A shape input that reshapes a value of extents `in` to `out`: numbers, 0 for an unchanged extent, -1 for
/// the remaining one. Nothing when more than one remains, or when an extent is 0. `in` may
/// be null: its extents are unknown.
std::optional<std::vector<int64_t>> reshape_target(const Dims* in, const Dims& out);

/// Axes counted from the front; nothing when one is negative and the
/// rank unknown (below 0), or when an axis is out of range. Passes also
/// see nodes that inference refused, where an axis may be any number.
std::optional<std::vector<int64_t>> from_front(std::vector<int64_t> axes, int rank);

/// The axes of a Transpose's input in the order of its output, counted from the front; nothing when neither
/// the node nor the rank determines them, or when they are not a permutation.
std::optional<std::vector<int64_t>> permutation_of(const Node& transpose);

/// The axis of a Concat, from the front where the rank is known; nothing for another operator.
std::optional<int64_t> concat_axis(const Node& n);

}  // namespace assay
