// NaN and infinities in nodes that select, compare or sort, whose results ONNX does not define.
#pragma once

#include "arbiter/trial.h"

namespace assay {

/// Elements of a result that may be anything because
/// the runner's own inputs contain unordered numbers.
struct SpecialReach {
  bool any = false;  ///< some are
  bool all = false;  ///< all of them are, and so is the shape
  Tensor elements;   ///< otherwise float64 of the result's shape, not 0 where it is open
};

/// NaN is unordered: the choice of TopK, ArgMax, MaxPool, Unique or NonMaxSuppression next to it depends on
/// the order of comparisons, even if they choose a number. `shape` is
/// the result's.
SpecialReach reach_of_specials(const SuspectNode& suspect, const Trial& trial, const Shape& shape);

/// True when a float tensor has NaN, or infinities if those matter.
bool has_special(const Tensor& t, bool infinities);

}  // namespace assay
