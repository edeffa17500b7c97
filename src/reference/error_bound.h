// How far a computed result may lie from the exact one because of the operator's own rounding.
#pragma once

#include <span>
#include <vector>

#include "ops/op_context.h"

namespace assay {

enum class BoundModel : uint8_t {
  kWorstCase,    ///< holds for every order of the additions: gamma_n |A||B| (Higham, section 3.1)
  kStatistical,  ///< the size to expect: a sum of n terms whose partial sums drift to y and walk at random
                 ///< with steps of the terms' size errs by about u (sqrt(n/3) |y| + m)
                 ///< (docs/internals/numerics.md derives it). Of operators with Numerics::perturb, noisy
                 ///< evaluations show it better.
};

/// An error is explained up to this many spreads of noisy evaluations. The spread is itself an estimate, and
/// the largest of a million normal errors lies near five.
inline constexpr double kExplainedFactor = 8;

/// Bounds for the outputs of a node whose exact inputs are in `c` and whose exact outputs are `y`, when it is
/// computed in an arithmetic whose results have the unit roundoffs `u` (one per output). Entry i is a float64
/// tensor of y[i]'s shape, or undefined when output i is free of rounding (exact operators, integers).
std::vector<Tensor> error_bounds(EvalContext& c, std::span<const Tensor> y, std::span<const double> u,
                                 BoundModel model = BoundModel::kWorstCase);

/// What is no number, as bits: which of these evaluations give.
inline constexpr unsigned kPlusInfinity = 1, kMinusInfinity = 2, kNotANumber = 4;

/// Both bounds of one output; undefined where it is free of rounding.
struct NodeError {
  Tensor worst, expected;
  /// Of a type narrower than float32, with Bounds::kBoth: the size to expect of the same steps in float32,
  /// where it is not `expected` in proportion (a coordinate next to a tie goes to either side in any
  /// arithmetic).
  Tensor in_float32;
  /// For each element what an order of the additions makes of it that leaves float32 on the way, as bits in a
  /// float64 tensor; undefined where none does. The bounds are those of the orders that stay within.
  Tensor overflow;
  /// What the operator gives when what it divides by overflows; undefined when that is no number.
  Tensor collapsed;
  double operations = 1;  ///< roundings on the way to one element: each may underflow, too
};
/// Which bounds are asked for.
enum class Bounds : uint8_t { kExpected, kBoth };
/// error_bounds() in both models, at the price of one, or in the statistical one alone.
std::vector<NodeError> node_errors(EvalContext& c, std::span<const Tensor> y, std::span<const double> u,
                                   Bounds asked = Bounds::kBoth);

}  // namespace assay
