// Ranges of numbers for plots.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/numbers.h"

namespace assay {

/// The plottable range of numbers.
struct FiniteRange {
  double min = 0, max = 0;    ///< of the finite ones; 0 when there are none
  double least_positive = 0;  ///< finite; 0 when no number is positive
  int64_t finite_count = 0;

  bool has_spread() const { return min < max; }
};
FiniteRange finite_range(const Numbers& numbers);

/// Calls visit(i, value) for the elements first + i, i in [0, count), in order; which must be in range.
template <typename Visit>
void for_each_number(const Numbers& numbers, int64_t first, int64_t count, Visit&& visit) {
  const int64_t last = first + count;
  visit_kind(numbers.kind(), [&]<typename T>() {
    for_each_block<T>(numbers, first / Numbers::kBlock, numbers.block_count(),
                      [&](const T* p, int64_t n, int64_t start) {
                        const int64_t from = std::max(first, start), to = std::min(last, start + n);
                        for (int64_t i = from; i < to; ++i)
                          visit(i - first, static_cast<double>(p[i - start]));
                        return start + n < last;
                      });
  });
}

}  // namespace assay
