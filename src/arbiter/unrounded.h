// Possible values of a node's inputs before rounding to a narrow type.
#pragma once

#include <span>
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

/// How far each element may be from the node's result on its inputs as they are stored, because those may
/// have been others before they were rounded: of functions of single elements, which are evaluated at both
/// ends of the interval that rounds to an input. Where the node's noisy evaluations `lanes` differ, a zero
/// may have been a number that was too small. Undefined for other nodes, and where no input was rounded so.
Tensor reach_of_inputs(const Trial& trial, const SuspectNode& suspect, std::span<const Tensor> lanes);

/// The node on `count` random sets of inputs that round to the runner's own. None when none of its inputs was
/// rounded, or an evaluation fails.
std::vector<Tensor> evaluated_before_rounding(const Trial& trial, const SuspectNode& suspect, int count);

/// The node on inputs whose computed infinities are replaced by finite numbers beyond the narrow type's
/// range: first the smallest of them, then `count` random ones up to the largest of float32. None without
/// such infinities, or if an evaluation fails.
std::vector<Tensor> evaluated_before_overflow(const Trial& trial, const SuspectNode& suspect, int count);

}  // namespace assay
