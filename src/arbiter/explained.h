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
  kUnknown,      ///< nothing
  kDeclared,     ///< sums may have been made in the narrow type
  kWider,        ///< in float32, and rounded once
  kDoubtful,     ///< too few elements, which err by more than what is computed in float32
  kBeyondWider,  ///< as kDeclared, and some err by more than what is computed in float32
};

/// Bits beside those of what is no number (kPlusInfinity, ...): some evaluations of an element give a number,
/// or none does that shows how far rounding moves it.
inline constexpr unsigned kNumber = 8, kUntold = 16;

/// Float64 tensors of the result's shape. An infinite entry: anything is right.
struct Explained {
  Tensor most;      ///< errors up to here are explained
  Tensor possible;  ///< beyond this no order of additions explains them; undefined where that is not known
  /// What else evaluations of an element give, or orders of its sums: as bits. Undefined: nothing.
  Tensor others;
  /// With `others`, another number that is right up to `room`: what some lanes have where the exact network
  /// has none, or what is left when a divisor overflows. NaN: there is none. May be undefined.
  Tensor another, room;
  /// Of a narrow type, where the result does not show that it was computed in float32: what would be
  /// explained then. Undefined elsewhere.
  Tensor held;
  /// The node was computed in float32 and its result rounded to a narrower type.
  bool computed_wider = false;
  ComputedIn shown = ComputedIn::kUnknown;
};

/// From noisy evaluations: `factor` times the largest of the element's own spread, that of its neighbours,
/// and the tensor's typical one; and storing in `dtype`. Where all numbers are whole multiples of a `step`,
/// which broadcasts over them, see explained_steps().
Explained explained_by_spread(std::span<const Tensor> lanes, DType dtype, double factor,
                              const Tensor& step = {});

/// How many whole steps are explained where noisy evaluations differ by the root mean square `spread` of
/// whole steps. Rounding moves few elements by one: where one in n evaluations is a step off, the spread is
/// 1/sqrt(n), and says how often a step is taken, not how many are. Only where more come together it is a
/// size.
double explained_steps(double spread, double factor);
/// Where every quantised value is moved by as much as a backend may move any, the spread counts so often.
inline constexpr double kLevelFactor = 3;

/// What is explained when the node is computed in float32 and only its result rounded to a narrower type:
/// that rounding, the errors of float32, and the spread of its inputs, or their `reach`
/// (reach_of_inputs()), where it is defined. Undefined for float32 and wider.
Tensor explained_when_computed_wider(std::span<const Tensor> lanes, const NodeError& error, DType dtype,
                                     const Tensor& reach = {});

/// The same where noisy evaluations in the narrow type tell what errors become: in float32 they are smaller
/// in proportion. `moved`: exact evaluations on inputs as they may have been before they were rounded; may be
/// empty.
Tensor spread_when_computed_wider(std::span<const Tensor> lanes, std::span<const Tensor> moved, DType dtype);

/// From the bounds of a node's arithmetic, and the spread of its inputs in the lanes, if there is more than
/// one, or their `reach`, where it is defined. A node that keeps the numbers it gets (keeps_numbers()) is not
/// moved by that spread.
Explained explained_by_node(std::span<const Tensor> lanes, const NodeError& error, DType dtype,
                            bool keeps_numbers = false, const Tensor& reach = {});

}  // namespace assay
