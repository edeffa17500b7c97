// The final transform of a vector of scores by the ai.onnx.ml classifiers and regressors.
#pragma once

#include <array>
#include <span>

#include "ops/numerics/running_error.h"
#include "ops/op_context.h"

namespace assay {

/// Numbered as TreeEnsemble's attribute.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

/// Reads the string attribute `post_transform`; throws Error when it is none of the five.
PostTransform read_post_transform(const OpContext& c);
/// From TreeEnsemble's number.
PostTransform read_post_transform_number(const OpContext& c);

double logistic(double x);
Rounded logistic(const Rounded& x);
/// The quantile of the standard normal distribution: -infinity at 0, infinity at 1, NaN outside.
double probit(double p);
Rounded probit(const Rounded& p);

/// Transforms the scores of one row, in place. SOFTMAX_ZERO is a softmax that leaves scores of zero (up to
/// 1e-7) out of the sum and near zero. N is double or Rounded.
template <typename N>
void apply(PostTransform transform, std::span<N> scores);

/// The scores of two classes of which only the second is scored, by `s`. The first class has -s, or 1 - s for
/// PROBIT (s is a probability there) and, with `complement`, for NONE; both are then
/// transformed.
template <typename N>
std::array<N, 2> two_scores(PostTransform transform, const N& s, bool complement);

}  // namespace assay
