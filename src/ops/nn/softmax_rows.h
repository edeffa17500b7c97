// Shared by Softmax, LogSoftmax and Hardmax: the slices that they normalize.
#pragma once

#include "ops/eval_util.h"
#include "ops/op_context.h"

namespace assay {

/// A tensor as outer * inner slices of `count` elements that are `inner` apart. Before opset 13 a slice is
/// everything from the axis on; since then it runs along the axis.
struct Slices {
  int64_t outer, count, inner;
};

/// Output 0 is like input 0. Throws Error when the axis is out of range.
void infer_slices(InferContext& c);
Slices softmax_slices(const EvalContext& c);

/// Calls f(offset of the first element) for every slice, in parallel.
template <typename F>
void for_each_slice(const Slices& s, F f) {
  parallel_for(s.outer * s.inner, std::max<int64_t>(1, kElementGrain / 8 / std::max<int64_t>(s.count, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) f(i / s.inner * s.count * s.inner + i % s.inner);
               });
}

/// x - max - log(sum of exp(x - max)) in every slice.
Tensor log_softmax(const Tensor& x, const Slices& s);
/// Its error in an arithmetic with unit roundoff u: at most u (2 |y| + 2 |x - max| + n + 8). The sum's
/// relative error, n + 8 roundings and those of its differences weighted by the terms, is the logarithm's
/// absolute one; the rest are the two differences.
Tensor log_softmax_bound(const Tensor& x, const Tensor& y, const Slices& s, double u);
/// The error to expect: half of that, with sqrt(n / 3) instead of n.
Tensor log_softmax_expected(const Tensor& x, const Tensor& y, const Slices& s, double u);

/// The largest of the elements of a slice; NaN if there is one.
double largest(const double* x, const Slices& s);
}  // namespace assay
