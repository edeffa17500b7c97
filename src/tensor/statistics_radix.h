// Order statistics by radix selection: exact, in constant memory, whatever the data; internal to statistics.
#pragma once

#include <span>
#include <vector>

#include "tensor/numbers.h"

namespace assay::internal {

/// Two places, next to each other or the same, in the sorted order of some elements.
struct RankPair {
  int64_t below, above;
};
/// The elements at these positions.
struct ValuePair {
  double below, above;
};

/// The elements at `ranks` (pairs with below <= above, ascending by below, in [0, size)) when all elements
/// are sorted. No element may be NaN. Reads the numbers a few times, in parallel. -0 comes back as 0.
std::vector<ValuePair> select_by_radix(const Numbers& numbers, std::span<const RankPair> ranks);

}  // namespace assay::internal
