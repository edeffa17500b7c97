// The layer normalizations of com.microsoft: over the last dimension, times gamma, plus beta.
#pragma once

#include "ops/numerics/steps.h"

namespace assay {

/// Which inputs hold the parameters.
struct LayerNormInputs {
  size_t gamma, beta;
};

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta; `mean` and `inverse` get one number per row unless
/// they are null. Throws Error unless the parameters are vectors of the row's length.
Traced layer_norm(const EvalContext& c, Steps& steps, const Traced& x, const LayerNormInputs& in,
                  Traced* mean = nullptr, Traced* inverse = nullptr);
/// x / sqrt(mean of x^2 + epsilon) * gamma.
Traced rms_norm(const EvalContext& c, Steps& steps, const Traced& x, size_t gamma, Traced* inverse = nullptr);

/// The sum that the Skip variants normalize: input 0, input 1 (of the same shape, or broadcast over leading
/// dimensions), and the bias in input `bias`, if given.
Traced skip_sum(const EvalContext& c, Steps& steps, size_t bias);
/// Outputs of the Skip variants: the result, mean and inverse deviation of every row, the sum. Parameters are
/// the inputs from 2 on.
void infer_skip_norm(InferContext& c);

}  // namespace assay
