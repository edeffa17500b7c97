// How long a bisection takes, and where it may go.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace assay::debug {

/// Of a range of so many places until one is left.
inline size_t halvings(size_t range) {
  size_t count = 0;
  for (; range > 1; range = (range + 1) / 2) ++count;
  return count;
}

/// The middles that a bisection between `low` and `high` may ask about, those of the fewest answers first.
inline std::vector<size_t> next_middles(size_t low, size_t high, size_t count) {
  std::vector<size_t> middles;
  for (std::deque<std::pair<size_t, size_t>> open = {{low, high}}; !open.empty() && middles.size() < count;
       open.pop_front()) {
    const auto [from, to] = open.front();
    if (to - from < 2) continue;
    const size_t middle = (from + to) / 2;
    middles.push_back(middle);
    open.emplace_back(from, middle);
    open.emplace_back(middle, to);
  }
  return middles;
}

}  // namespace assay::debug
