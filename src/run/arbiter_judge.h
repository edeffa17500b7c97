// One result against the float64 reference and its noisy evaluations.
#pragma once

#include <span>
#include <string>

#include "run/arbiter.h"

namespace assay {

/// Judges a result, whose elements are loaded only if type and shape are right. `lanes` are one value of the
/// interpreter: the exact one, then the noisy ones. `declared` is the type that the model gives it,
/// kUndefined when it gives none.
ArbiterVerdict judge_result(const std::string& runner, const std::string& output, const StoredTensor& result,
                            std::span<const Tensor> lanes, DType declared);

/// Largest |result - exact| over a given bound; storing costs half a unit in the last place more. Float64
/// tensors of one shape.
double ratio_to_bound(const Tensor& result, const Tensor& exact, const Tensor& bound, DType declared);

}  // namespace assay
