#include "view/finite_range.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/parallel.h"

namespace assay {
namespace {

constexpr int64_t kGrain = 32;  // blocks

void include(FiniteRange& range, double x) {
  if (!std::isfinite(x)) return;
  range.min = range.finite_count == 0 ? x : std::min(range.min, x);
  range.max = range.finite_count == 0 ? x : std::max(range.max, x);
  if (x > 0) range.least_positive = range.least_positive == 0 ? x : std::min(range.least_positive, x);
  ++range.finite_count;
}

void include(FiniteRange& range, const FiniteRange& other) {
  if (other.finite_count == 0) return;
  const int64_t count = range.finite_count + other.finite_count;
  include(range, other.min);
  include(range, other.max);
  if (other.least_positive > 0) include(range, other.least_positive);
  range.finite_count = count;
}

}  // namespace

FiniteRange finite_range(const Numbers& numbers) {
  FiniteRange total;
  std::mutex mutex;
  visit_kind(numbers.kind(), [&]<typename T>() {
    parallel_for(numbers.block_count(), kGrain, [&](int64_t begin, int64_t end) {
      FiniteRange mine;
      for_each_block<T>(numbers, begin, end, [&](const T* p, int64_t n, int64_t) {
        for (int64_t i = 0; i < n; ++i) include(mine, static_cast<double>(p[i]));
        return true;
      });
      const std::lock_guard lock(mutex);
      include(total, mine);
    });
  });
  return total;
}

}  // namespace assay
