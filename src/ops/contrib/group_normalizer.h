// GroupNorm and SkipGroupNorm: every group of channels of an image by its own mean and variance, then * gamma
// + beta, one of each per channel; with activation 1 then x * sigmoid(x).
#pragma once

#include "ops/numerics/steps.h"

namespace assay {

/// Output 0 is like input 0. Throws Error when the attributes or parameters do not fit.
void infer_group_norm(InferContext& c);
/// The normalized image, in the layout of `x`.
Traced group_norm(const EvalContext& c, Steps& steps, const Traced& x);

}  // namespace assay
