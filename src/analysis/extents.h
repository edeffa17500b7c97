// What passes conclude from extents that may be symbols.
#pragma once

#include <optional>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Null when the rank is unknown.
const Dims* dims_of(const Value* v);

/// Whether both have the same rank and equal extents, numbers or symbols.
bool same_dims(const Value* a, const Value* b);

/// A shape input that reshapes a value of extents `in` to `out`: numbers, 0 for an extent that stays in its
/// place, -1 for the one that remains. Nothing when more than one remains, or when an extent is 0. `in` may
/// be null: its extents are unknown.
std::optional<std::vector<int64_t>> reshape_target(const Dims* in, const Dims& out);

/// Axes counted from the front; nothing when one is negative and the rank (below 0: unknown) does not say
/// which it is, or when the rank has no such axis. Passes see nodes that inference refused, too: an axis may
/// be any number.
std::optional<std::vector<int64_t>> from_front(std::vector<int64_t> axes, int rank);

/// The axes of a Transpose's input in the order of its output, counted from the front; nothing when neither
/// the node nor the rank says them, or when they are not a permutation of the input's axes.
std::optional<std::vector<int64_t>> permutation_of(const Node& transpose);

/// The axis of a Concat, from the front where the rank is known; nothing for another operator.
std::optional<int64_t> concat_axis(const Node& n);

}  // namespace assay
