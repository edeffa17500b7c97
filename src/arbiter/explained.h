// How far each element of a result may lie from the exact one because of rounding.
#pragma once

#include <span>

#include "reference/error_bound.h"

namespace assay {

/// An error is wrong beyond so many sizes of what is to be expected of a node's own arithmetic. The size is
/// the half-width of a uniform distribution, so this is about nine standard deviations.
inline constexpr double kOwnFactor = 5;
/// What may have been rounded on the way to a node counts up to so many spreads.
inline constexpr double kInputFactor = 4;

/// What a result in a narrow type shows of the arithmetic it was computed in.
enum class ComputedIn : uint8_t {
  kUnknown,   ///< nothing
  kDeclared,  ///< sums may have been made in the narrow type
  kWider,     ///< in float32, and rounded once
  kDoubtful,  ///< too few elements, which err by more than what is computed in float32
};

/// Float64 tensors of the result's shape. An infinite entry: anything is right.
struct Explained {
  Tensor most;      ///< errors up to here are explained
  Tensor possible;  ///< beyond this no order of additions explains them; undefined where that is not known
  /// The node was computed in float32 and its result rounded to a narrower type.
  bool computed_wider = false;
  ComputedIn shown = ComputedIn::kUnknown;
};

/// From noisy evaluations: `factor` times the largest of the element's own spread, that of its neighbours,
/// and the tensor's typical one; and storing in `dtype`.
Explained explained_by_spread(std::span<const Tensor> lanes, DType dtype, double factor);

/// What is explained when the node is computed in float32 and only its result rounded to a narrower type:
/// that rounding, the errors of float32, and the spread of its inputs. Undefined for float32 and wider.
Tensor explained_when_computed_wider(std::span<const Tensor> lanes, const NodeError& error, DType dtype);

/// The same where noisy evaluations in the narrow type tell what errors become: in float32 they are smaller
/// in proportion. `moved`: exact evaluations on inputs as they may have been before they were rounded; may be
/// empty.
Tensor spread_when_computed_wider(std::span<const Tensor> lanes, std::span<const Tensor> moved, DType dtype);

/// From the bounds of a node's arithmetic, and the spread of its inputs in the lanes, if there is more than
/// one. A node that keeps the numbers it gets (keeps_numbers()) is not moved by that spread.
Explained explained_by_node(std::span<const Tensor> lanes, const NodeError& error, DType dtype,
                            bool keeps_numbers = false);

}  // namespace assay
