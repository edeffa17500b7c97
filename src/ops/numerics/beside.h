// Functions of single elements at points next to one where their value is known: `Numerics::beside`.
#pragma once

#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"

namespace assay {

/// Changes up to here count as small.
inline constexpr double kSmallMove = 0x1p-8;
/// e^d - 1 for a small change d, to a part in 2^36.
inline double small_expm1(double d) { return d * (1 + d * (0.5 + d * (1.0 / 6 + d * (1.0 / 24)))); }
/// tanh(d), likewise.
inline double small_tanh(double d) { return d - d * d * d * (1.0 / 3 - d * d * (2.0 / 15)); }

/// f at every element of `lane`, where y = f(x): near(y, d) for small changes d from x, f itself elsewhere.
template <typename Near, typename F>
Tensor beside_elements(const Tensor& x, const Tensor& y, const Tensor& lane, Near near, F f) {
  constexpr int64_t kBlock = 64;
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const double *px = x.data<double>(), *py = y.data<double>(), *pl = lane.data<double>();
  auto* po = out.mutable_data<double>();
  parallel_for(y.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t begin = first; begin < last; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, last);
      int beyond = 0;
#pragma omp simd reduction(+ : beyond)
      for (int64_t i = begin; i < end; ++i) {
        const double d = pl[i] - px[i];
        po[i] = near(py[i], d);
        beyond += std::abs(d) <= kSmallMove ? 0 : 1;  // NaN, too
      }
      if (beyond == 0) continue;
      for (int64_t i = begin; i < end; ++i)
        if (!(std::abs(pl[i] - px[i]) <= kSmallMove)) po[i] = f(pl[i]);
    }
  });
  return out;
}

}  // namespace assay
