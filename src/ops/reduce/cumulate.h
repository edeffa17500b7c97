// CumSum and CumProd.
#pragma once

#include <algorithm>

#include "ops/reduce/reduce_common.h"

namespace assay {

/// Output 0 is like input 0; an axis that is known must be within its rank.
void infer_cumulate(InferContext& c);
/// The axis that input 1 names, in [0, rank).
size_t cumulated_axis(const EvalContext& c);
/// Numerics::terms: the extent of the axis.
int64_t cumulated_count(EvalContext& c);

/// Along the axis, y[j] = f(y[j - 1], x[j]) from the identity; with `exclusive` y[j] leaves x[j] out; with
/// `reverse` j counts from the end.
template <typename T, typename F>
Tensor cumulate(const EvalContext& c, T identity, F f) {
  const Tensor& x = c.input(0);
  const size_t axis = cumulated_axis(c);
  const bool exclusive = c.attr_int("exclusive") != 0, reverse = c.attr_int("reverse") != 0;
  const int64_t n = x.dim(axis), inner = x.shape().numel(axis + 1, x.shape().size());
  Tensor y = Tensor::allocate(x.dtype(), x.shape());
  if (y.numel() == 0) return y;
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  parallel_for(y.numel() / (n * inner), std::max<int64_t>(1, kElementGrain / (n * inner)),
               [&](int64_t first, int64_t last) {
                 for (int64_t o = first; o < last; ++o) {
                   // The position of step j of the run.
                   const auto row = [&](int64_t j) { return (o * n + (reverse ? n - 1 - j : j)) * inner; };
                   if (exclusive)
                     std::fill_n(out + row(0), inner, identity);
                   else
                     std::copy_n(in + row(0), inner, out + row(0));
                   for (int64_t j = 1; j < n; ++j) {
                     const T* before = out + row(j - 1);
                     const T* element = in + row(exclusive ? j - 1 : j);
                     T* to = out + row(j);
                     for (int64_t i = 0; i < inner; ++i) to[i] = f(before[i], element[i]);
                   }
                 }
               });
  return y;
}

}  // namespace assay
