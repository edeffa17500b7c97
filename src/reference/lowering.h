// Types that a run was asked for beside those of the model: what its nodes may round to, too.
#pragma once

#include <span>
#include <unordered_map>

#include "reference/error_bound.h"

namespace assay {

struct Lowering {
  /// The unit roundoff of the type that any float32 number may be rounded to before it is used, weights too;
  /// 0: none.
  double u = 0;
  /// Products whose inputs and weights may be rounded to 8 bits: by node the step of input 0. NaN: that which
  /// shows its largest number.
  std::unordered_map<const Node*, double> int8;

  bool any() const { return u > 0 || !int8.empty(); }
};

/// Adds to the errors of a node of float32 what the lowering may round: its inputs, each by itself, and in
/// products of 8 bits what the range of their step cuts off, as far as that is little beside the rounding.
/// `c` has the node's exact inputs, `y` its exact outputs.
void add_lowered_errors(EvalContext& c, const Lowering& lowering, std::span<const Tensor> y,
                        std::vector<NodeError>& errors);

/// The largest number that n levels of a step show, and the share of rounding that may be cut off beside it.
inline constexpr double kInt8Levels = 127;
/// A scale that balances what it cuts off with what it rounds (by entropy, or a quantile) cuts off up to some
/// ten times what it rounds, as sums of squares.
inline constexpr double kCutOff = 100;

}  // namespace assay
