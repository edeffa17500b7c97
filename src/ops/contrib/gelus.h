// The Gelu functions of the fused operators: x times the normal distribution function, by erf, by tanh
// (FastGelu) or by a sigmoid (QuickGelu).
#pragma once

#include "ops/numerics/steps.h"

namespace assay {

/// 0.5 x (1 + erf(x / sqrt(2))).
Traced gelu(Steps& steps, const Traced& x);
/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
Traced fast_gelu(Steps& steps, const Traced& x);
/// x sigmoid(alpha x).
Traced quick_gelu(Steps& steps, const Traced& x, double alpha);

}  // namespace assay
