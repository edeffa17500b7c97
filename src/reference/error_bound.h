// Bounds of the distance between a computed result and the exact one by the operator's own rounding.
#pragma once

#include <span>
#include <vector>

#include "ops/op_context.h"

namespace assay {

enum class BoundModel : uint8_t {
  kWorstCase,    ///< holds for every order of the additions: gamma_n |A||B| (Higham, section 3.1)
  kStatistical,  ///< the size to expect: a sum of n terms whose partial sums drift to y and walk at random
                 ///< with steps of the terms' size errs by about u (sqrt(n/3) |y| + m)
                 ///< (docs/internals/numerics.md derives it). For operators with Numerics::perturb, noisy
                 ///< evaluations are more accurate.
};

/// An error is explained up to this many spreads of noisy evaluations. The spread is itself an estimate, and
/// the largest of a million normal errors is near five.
inline constexpr double kExplainedFactor = 8;

/// Bounds for the outputs of a node whose exact inputs are in `c` and whose exact outputs are `y`, when it is
/// computed in an arithmetic whose results have the unit roundoffs `u` (one per output). Entry i is a float64
/// tensor of y[i]'s shape, or undefined when output i is free of rounding (exact operators, integers).
std::vector<Tensor> error_bounds(EvalContext& c, std::span<const Tensor> y, std::span<const double> u,
                                 BoundModel model = BoundModel::kWorstCase);

/// Non-finite results that evaluations give, as bits.
inline constexpr unsigned kPlusInfinity = 1, kMinusInfinity = 2, kNotANumber = 4;

/// Both bounds of one output; undefined if it is free of rounding.
struct NodeError {
  Tensor worst, expected;
  /// Of a type narrower than float32, with Bounds::kBoth: the size to expect of the same steps in float32,
  /// where it is not `expected` in proportion (a coordinate next to a tie goes to either side in any
  /// arithmetic).
  Tensor in_float32;
  /// For each element what an order of the additions makes of it that leaves float32 on the way, as bits in a
  /// float64 tensor; undefined where none does. The bounds are those of the orders that stay within.
  Tensor overflow;
  /// The operator's result when its divisor overflows; undefined when that is not finite.
  Tensor collapsed;
  double operations = 1;  ///< roundings per element: each may underflow, too
  /// Of a product in 8 bits whose quantized values are known (`Lowering::levels`): the result that these
  /// give, and the distance from that, or from the exact result, that float32 explains. Undefined elsewhere.
  Tensor by_levels, near_levels;
};
/// The requested bounds.
enum class Bounds : uint8_t { kExpected, kBoth };
/// error_bounds() in both models, at the cost of one, or only in the statistical one.
std::vector<NodeError> node_errors(EvalContext& c, std::span<const Tensor> y, std::span<const double> u,
                                   Bounds asked = Bounds::kBoth);

}  // namespace assay
