// How far two tensors are apart, as searches for the first difference see it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/tensor.h"

namespace assay::debug {

/// An element may differ by atol + rtol * |second|. Without both, by a share of the largest number of the
/// tensor that the coarser of the types leaves open: half the root of its unit roundoff, 1e-4 of it for
/// float32, 1e-2 for float16; integers and strings must be equal.
struct LayerTolerance {
  std::optional<double> atol = {}, rtol = {};
};

struct TensorDifference {
  bool differs = false;
  std::string problem;  ///< that makes elements incomparable, such as other extents; empty: there is none
  double error = 0;     ///< the largest, absolute; infinite where non-finite numbers differ
  double scale = 0;     ///< the largest finite number of both
  /// The largest error by what is allowed there: more than 1 where they differ.
  double excess = 0;
  std::vector<int64_t> index;  ///< of that element
  double first = 0, second = 0;
  int64_t beyond = 0, elements = 0;  ///< how many are beyond the tolerance
};

TensorDifference difference_of(const Tensor& first, const Tensor& second, const LayerTolerance& tolerance);

}  // namespace assay::debug
