// ArgMax and ArgMin.
#pragma once

#include <vector>

#include "ops/eval_util.h"
#include "ops/math/wrapping.h"
#include "ops/reduce/reduce_common.h"

namespace assay {

/// Output 0 is int64, the input's shape without the axis.
void infer_arg(InferContext& c);

/// Elements that are compared together, before searching which of them is better.
inline constexpr int64_t kArgBlock = 64;

/// The position of the best of n elements. wins(candidate, best) for those that come later.
template <typename T, typename Wins>
int64_t best_of_line(const T* x, int64_t n, Wins wins) {
  T best = x[0];
  int64_t place = 0;
  for (int64_t first = 1; first < n; first += kArgBlock) {
    const int64_t last = std::min(n, first + kArgBlock);
    int any = 0;
#pragma omp simd reduction(| : any)
    for (int64_t i = first; i < last; ++i) any |= static_cast<int>(wins(x[i], best));
    for (int64_t i = first; any != 0 && i < last; ++i)
      if (wins(x[i], best)) {
        best = x[i];
        place = i;
      }
  }
  return place;
}

/// The same for `columns` adjacent lines, whose elements are `stride` apart.
template <typename T, typename Wins>
void best_of_lines(const T* x, int64_t n, int64_t stride, int64_t columns, int64_t* places, Wins wins) {
  T best[kArgBlock];
  int64_t at[kArgBlock];
  for (int64_t first = 0; first < columns; first += kArgBlock) {
    const int64_t count = std::min(columns - first, kArgBlock);
    std::copy_n(x + first, count, best);
    std::fill_n(at, count, 0);
    for (int64_t j = 1; j < n; ++j) {
      const T* candidates = x + j * stride + first;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        const bool better = wins(candidates[i], best[i]);
        best[i] = better ? candidates[i] : best[i];
        at[i] = better ? j : at[i];
      }
    }
    std::copy_n(at, count, places + first);
  }
}

/// Output 0 is, along the axis, the position of the element that is `better` than the others or NaN.
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
    visit_exact(c.input(0).dtype(), [&]<typename T>() {
      const T* x = c.input(0).data<T>();
      int64_t* places = y.mutable_data<int64_t>();
      // A later candidate wins if it is better, or as good and the last is requested.
      const auto wins = [=](T candidate, T best) {
        const bool as_good = is_nan(best) ? is_nan(candidate) : candidate == best;
        const bool is_more = is_nan(candidate) | better(candidate, best), may_be_more = !is_nan(best);
        return (may_be_more & is_more) | (last & as_good);
      };
      parallel_for(y.numel() / inner, std::max<int64_t>(1, kElementGrain / (n * inner)),
                   [&](int64_t first, int64_t end) {
                     for (int64_t o = first; o < end; ++o)
                       if (inner == 1)
                         places[o] = best_of_line(x + o * n, n, wins);
                       else
                         best_of_lines(x + o * n * inner, n, inner, inner, places + o * inner, wins);
                   });
    });
  c.set_output(0, std::move(y));
}

}  // namespace assay
