// How long a bisection takes.
#pragma once

#include <cstddef>

namespace assay::debug {

/// Of a range of so many places until one is left.
inline size_t halvings(size_t range) {
  size_t count = 0;
  for (; range > 1; range = (range + 1) / 2) ++count;
  return count;
}

}  // namespace assay::debug
