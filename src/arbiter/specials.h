// What nodes that choose, compare or sort make of NaN and infinities, which ONNX does not say.
#pragma once

#include "arbiter/trial.h"

namespace assay {

/// Which elements of a result may be anything because the runner's own inputs of the node hold numbers that
/// have no order.
struct SpecialReach {
  bool any = false;  ///< some are
  bool all = false;  ///< all of them are, and so is the shape
  Tensor elements;   ///< otherwise float64 of the result's shape, not 0 where it is open
};

/// NaN has no place among the numbers: which one TopK, ArgMax, MaxPool, Unique or NonMaxSuppression choose
/// beside it depends on the order of their comparisons, also where what they choose is a number. `shape` is
/// the result's.
SpecialReach reach_of_specials(const SuspectNode& suspect, const Trial& trial, const Shape& shape);

/// Whether there are NaN, or infinities where those count, among the elements of a float tensor.
bool has_special(const Tensor& t, bool infinities);

}  // namespace assay
