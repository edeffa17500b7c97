// Judges one result against the reference's.
#pragma once

#include "arbiter/explained.h"
#include "arbiter/judgement.h"

namespace assay {

/// Up to so many times what noisy evaluations explain a result is unclear, not wrong: their model of errors
/// is not that of any backend. Not on the own inputs of a node or of a function's call.
inline constexpr double kUnclearFactor = 4;

/// The same for a node on its own inputs: its bounds are expected sizes, and slightly larger errors are not
/// certain.
inline constexpr double kNearFactor = 1.5;

/// If only the network's inputs are known, fewer decimal digits than this are worthless: an error of that
/// size would be explained.
inline constexpr double kCheckedDigits = 2;

/// Judges a result, whose elements are loaded only if type and shape are right. Fills in all fields except
/// runner, output, node, max_error and exact. Returns the arithmetic that it shows.
ComputedIn judge_result(const StoredTensor& result, const Standard& standard, ArbiterVerdict& out);

/// The distances from the exact result that rounding explains, for a result in `dtype`, given as float64.
Explained explained_for(const Tensor& result, const Standard& standard, DType dtype);

/// Where the result is the correctly rounded value of `also_right`, if there is one of its shape, nothing
/// deviates.
Deviation deviation(const Tensor& result, const Tensor& exact, const Explained& explained, DType declared,
                    const Tensor* also_right = nullptr);

/// Sets the fields of a verdict from a deviation.
void set_worst(const Deviation& d, const Tensor& result, const Tensor& exact, const Explained& explained,
               ArbiterVerdict& out);

}  // namespace assay
