#include "debug/non_finite_count.h"

#include <cmath>

#include "tensor/numbers.h"

namespace assay::debug {

NonFiniteCount count_non_finite(const Tensor& t) {
  NonFiniteCount result{.elements = t.defined() ? t.numel() : 0};
  if (!t.defined() || !is_float(t.dtype())) return result;
  const TensorNumbers numbers(t);
  visit_kind(numbers.kind(), [&]<typename T>() {
    for_each_block<T>(numbers, 0, numbers.block_count(), [&](const T* p, int64_t count, int64_t first) {
      for (int64_t i = 0; i < count; ++i) {
        const auto x = static_cast<double>(p[i]);
        if (std::isfinite(x)) continue;
        ++(std::isnan(x) ? result.nan : result.infinite);
        auto& place = result.first[std::isnan(x) ? 0 : x > 0 ? 1 : 2];
        if (!place) place = first + i;
      }
      return true;
    });
  });
  return result;
}

}  // namespace assay::debug
