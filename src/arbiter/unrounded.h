// Possible values of a node's inputs before rounding to a narrow type.
#pragma once

#include <vector>

#include "arbiter/trial.h"

namespace assay {

/// The rounding interval of each number of an input:
/// half the distance to the next number of its type.
class HalfUnit {
 public:
  /// For an input of the node; null if it is omitted.
  /// With `zeros` a zero may be an underflow.
  HalfUnit(const SuspectNode& suspect, const Value* input, bool zeros);
  /// True when it was computed, and is stored in a type narrower than float32.
  bool any() const { return u_ > 0; }
  double operator()(double x) const;

 private:
  double u_ = 0, smallest_ = 0, whole_ = -1;
  bool zeros_;
};

/// True when the node moves elements or selects them
/// by their order, so that it commutes with rounding.
bool keeps_numbers(const Node& n, const Model& model);

/// The possible distance of each element from the node's result on its stored inputs, because of their
/// rounding: for element-wise functions, evaluated at the ends of the rounding intervals. Undefined for other
/// nodes, and if no input was rounded.
Tensor reach_of_inputs(const Trial& trial, const SuspectNode& suspect);

/// The node on `count` random sets of inputs that round to the runner's own. None when none of its inputs was
/// rounded, or an evaluation fails.
std::vector<Tensor> evaluated_before_rounding(const Trial& trial, const SuspectNode& suspect, int count);

/// The node on inputs whose computed infinities are replaced by finite numbers beyond the narrow type's
/// range: first the smallest of them, then `count` random ones up to the largest of float32. None without
/// such infinities, or if an evaluation fails.
std::vector<Tensor> evaluated_before_overflow(const Trial& trial, const SuspectNode& suspect, int count);

}  // namespace assay
