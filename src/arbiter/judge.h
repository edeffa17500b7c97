// One result against what the reference computed.
#pragma once

#include "arbiter/explained.h"
#include "arbiter/judgement.h"

namespace assay {

/// Up to so many times what noisy evaluations explain a result is unclear, not wrong: their model of errors
/// is not that of any backend. Not on the own inputs of a node or of a function's call.
inline constexpr double kUnclearFactor = 4;

/// The same of a node on its own inputs: its bounds are sizes to be expected, and a little beyond them
/// nothing is certain.
inline constexpr double kNearFactor = 1.5;

/// Fewer decimal digits of a result are as good as none where more is not known than the network's inputs:
/// an error of so much of it is seen, and would be explained.
inline constexpr double kCheckedDigits = 2;

/// Judges a result, whose elements are loaded only if type and shape are right. Fills in all but runner,
/// output, node, max_error and exact. Returns what it shows of the runner's arithmetic.
ComputedIn judge_result(const StoredTensor& result, const Standard& standard, ArbiterVerdict& out);

/// What is explained of a result in `dtype`, given as float64.
Explained explained_for(const Tensor& result, const Standard& standard, DType dtype);

/// Where the result is the correctly rounded value of `also_right`, if there is one of its shape, nothing
/// deviates.
Deviation deviation(const Tensor& result, const Tensor& exact, const Explained& explained, DType declared,
                    const Tensor* also_right = nullptr);

/// Fills in what follows from a deviation.
void set_worst(const Deviation& d, const Tensor& result, const Tensor& exact, const Explained& explained,
               ArbiterVerdict& out);

}  // namespace assay
