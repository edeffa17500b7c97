// Shared by NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: picking the target's log-probability, and
// reducing.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// The loss' shape for scores in input 0 and targets in input 1. Throws Error when a rule is broken.
void infer_class_loss(InferContext& c);

/// The loss for log-probabilities [N, C, ...], targets in input 1 and optional class weights in input 2.
Tensor class_loss(const EvalContext& c, const Tensor& log_probabilities);

/// The loss' error when element i of the log-probabilities errs by errors[i]: picked and reduced as the loss
/// is, with the roundings of weights, sum and quotient. The errors are bounds and add up, or sizes of
/// independent errors.
enum class LossErrors : uint8_t { kBounds, kIndependent };
Tensor class_loss_errors(const EvalContext& c, const Tensor& log_probabilities, const Tensor& errors,
                         double u, LossErrors kind);

}  // namespace assay
