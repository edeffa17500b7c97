// ArgMax and ArgMin.
#pragma once

#include <vector>

#include "ops/eval_util.h"
#include "ops/math/wrapping.h"
#include "ops/reduce/reduce_common.h"

namespace assay {

/// Output 0 is int64, the input's shape without the axis.
void infer_arg(InferContext& c);

/// Output 0 is, along the axis, the place of the element that is `better` than the others or NaN.
template <typename Better>
void eval_arg(EvalContext& c, Better better) {
  const Shape& shape = c.shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), shape.rank()));
  const bool last = c.since() >= 12 && c.attr_int("select_last_index") != 0;
  const int64_t n = shape[axis], inner = shape.numel(axis + 1, shape.size());
  std::vector<bool> is_reduced(shape.size());
  is_reduced[axis] = true;
  Tensor y =
      Tensor::allocate(DType::kInt64, plan_reduction(shape, is_reduced, c.attr_int("keepdims") != 0).output);
  c.check(n > 0 || y.numel() == 0, "axis {} is empty, so no element is the one", axis);
  if (y.numel() != 0)
    visit_numeric(c.input(0).dtype(), [&]<typename T>() {
      const T* x = c.input(0).data<T>();
      int64_t* places = y.mutable_data<int64_t>();
      // A candidate that comes later takes the place if it is better, or as good and the last is asked for.
      const auto wins = [=](T candidate, T best) {
        if (is_nan(best)) return last && is_nan(candidate);
        return is_nan(candidate) || better(candidate, best) || (last && candidate == best);
      };
      parallel_for(y.numel() / inner, std::max<int64_t>(1, kElementGrain / (n * inner)),
                   [&](int64_t first, int64_t end) {
                     std::vector<T> best(static_cast<size_t>(inner));
                     for (int64_t o = first; o < end; ++o) {
                       const T* from = x + o * n * inner;
                       int64_t* place = places + o * inner;
                       std::copy_n(from, inner, best.begin());
                       std::fill_n(place, inner, 0);
                       for (int64_t j = 1; j < n; ++j)
                         for (int64_t i = 0; i < inner; ++i) {
                           const T candidate = from[j * inner + i];
                           if (!wins(candidate, best[static_cast<size_t>(i)])) continue;
                           best[static_cast<size_t>(i)] = candidate;
                           place[i] = j;
                         }
                     }
                   });
    });
  c.set_output(0, std::move(y));
}

}  // namespace assay
