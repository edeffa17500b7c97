// Explained distances of each element of a result from the exact one by rounding.
#pragma once

#include <span>

#include "reference/error_bound.h"

namespace assay {

/// An error beyond this multiple of the expected size for a node's own arithmetic is wrong. The size is the
/// half-width of a uniform distribution, so this is about nine standard deviations.
inline constexpr double kOwnFactor = 5;
/// Rounding before a node is accepted up to this multiple of the spread.
inline constexpr double kInputFactor = 4;

/// The arithmetic in which a result in a narrow type was computed, as far as it shows.
enum class ComputedIn : uint8_t {
  kUnknown,      ///< nothing
  kDeclared,     ///< sums may have been made in the narrow type
  kWider,        ///< in float32, and rounded once
  kDoubtful,     ///< too few elements, with larger errors than in float32
  kBeyondWider,  ///< as kDeclared, with some larger errors than in float32
};

/// Bits in addition to those of non-finite results (kPlusInfinity, ...): some evaluations of an element are
/// finite, or none shows the effect of rounding.
inline constexpr unsigned kNumber = 8, kUntold = 16;

/// Float64 tensors of the result's shape. An infinite entry: any result is right.
struct Explained {
  Tensor most;      ///< explained error
  Tensor possible;  ///< bound for any order of additions; undefined if unknown
  /// Other results of evaluations of an element, or of orders of its sums, as bits. Undefined: none.
  Tensor others;
  /// With `others`, another number that is right up to `room`: the value of some lanes where the exact
  /// network is not finite, or the result when a divisor overflows. NaN: none. May be undefined.
  Tensor another, room;
  /// Of a narrow type, where the result does not show that it was computed in float32: what would be
  /// explained then. Undefined elsewhere.
  Tensor held;
  /// The node was computed in float32 and its result rounded to a narrower type.
  bool computed_wider = false;
  ComputedIn shown = ComputedIn::kUnknown;
};

/// From noisy evaluations: `factor` times the largest of the element's own spread, that of its neighbours,
/// and the tensor's typical one; and storing in `dtype`. For multiples of a `step`, which broadcasts over
/// them, see explained_steps().
Explained explained_by_spread(std::span<const Tensor> lanes, DType dtype, double factor,
                              const Tensor& step = {});

/// The number of steps explained when noisy evaluations differ by the root mean
/// square `spread` in steps. Rounding moves few elements by one step: if one
/// in n evaluations is off by one, the spread is 1/sqrt(n), which measures the
/// frequency of steps, not their number. Only with several steps it is a size.
double explained_steps(double spread, double factor);
/// Factor of the spread when every quantized value is moved by the maximum of a backend.
inline constexpr double kLevelFactor = 3;

/// The explained error when the node is computed in float32 and only its result rounded to a narrower type:
/// that rounding, the errors of float32, and the spread of its inputs, or their `reach` (reach_of_inputs())
/// if defined. Undefined for float32 and wider.
Tensor explained_when_computed_wider(std::span<const Tensor> lanes, const NodeError& error, DType dtype,
                                     const Tensor& reach = {});

/// The same if noisy evaluations in the narrow type show the propagation
/// of errors: in float32 they are proportionally smaller. `moved`:
/// exact evaluations on possible unrounded inputs; may be empty.
Tensor spread_when_computed_wider(std::span<const Tensor> lanes, std::span<const Tensor> moved, DType dtype);

/// From the bounds of a node's arithmetic, and the spread of its inputs in the lanes, if there is more than
/// one, or their `reach` if defined. A node that preserves its inputs' values (keeps_numbers()) ignores that
/// spread.
Explained explained_by_node(std::span<const Tensor> lanes, const NodeError& error, DType dtype,
                            bool keeps_numbers = false, const Tensor& reach = {});

}  // namespace assay
