// The elements of a tensor that are not numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "assay/tensor.h"

namespace assay::debug {

/// How many elements of a tensor are NaN or infinite, and where the first are.
struct NonFiniteCount {
  int64_t elements = 0, nan = 0, infinite = 0;
  /// The first NaN, infinity and negative infinity.
  std::array<std::optional<int64_t>, 3> first = {};
  bool any() const { return nan > 0 || infinite > 0; }
};
/// Of a tensor of another type than a floating one there are none.
NonFiniteCount count_non_finite(const Tensor& t);

}  // namespace assay::debug
