// What a node's inputs may have been before they were rounded to a narrow type.
#pragma once

#include <span>
#include <vector>

#include "arbiter/trial.h"

namespace assay {

/// By how much each number of an input may have been another: half the distance to the next number of its
/// type.
class HalfUnit {
 public:
  /// Of an input of the node; null where it is left out. With `zeros` a zero may have been a number that was
  /// too small.
  HalfUnit(const SuspectNode& suspect, const Value* input, bool zeros);
  /// It was computed, and is stored in a type narrower than float32.
  bool any() const { return u_ > 0; }
  double operator()(double x) const;

 private:
  double u_ = 0, smallest_ = 0, whole_ = -1;
  bool zeros_;
};

/// Whether the node moves numbers or selects them by their order: rounded, what it gives for any numbers is
/// what it gives for the rounded ones.
bool keeps_numbers(const Node& n, const Model& model);

/// How far each element may lie from what the node gives on its inputs as they are stored, because those may
/// have been others before they were rounded: of functions of single elements, which are evaluated at the
/// ends of what would be rounded to them. Where the node's noisy evaluations `lanes` differ, a zero may have
/// been a number that was too small. Undefined for other nodes, and where no input was rounded so.
Tensor reach_of_inputs(const Trial& trial, const SuspectNode& suspect, std::span<const Tensor> lanes);

/// The node on `count` sets of inputs that would be rounded to the runner's own, each number moved at random.
/// None when none of its inputs was rounded so, or where one cannot be evaluated.
std::vector<Tensor> evaluated_before_rounding(const Trial& trial, const SuspectNode& suspect, int count);

/// The node on inputs whose infinities are finite numbers that a narrow type has no room for, where they were
/// computed: first the least of them, then `count` draws up to the largest of float32. None when there are no
/// such infinities, or where one cannot be evaluated.
std::vector<Tensor> evaluated_before_overflow(const Trial& trial, const SuspectNode& suspect, int count);

}  // namespace assay
