// A common factor by which all elements of a result in a narrow type are off.
#pragma once

#include <optional>
#include <span>

#include "assay/dtype.h"
#include "assay/tensor.h"

namespace assay {

/// A factor by which all elements of a result, or of a block of its trailing dimensions, are off, and the
/// explained part.
struct CommonFactor {
  double factor = 0, explained = 0;
  int64_t first = 0, count = 0;  ///< the block
  double ratio() const { return factor / explained; }
};

/// Roundings differ from element to element, so that their median is far below one of them, and a factor that
/// is rounded itself is off by one, or two. The worst one that is beyond that, of a result that was computed
/// in float32 and rounded once (`lanes`: the exact one, and what others its inputs may have been show); none
/// where there is none, or too few elements to say so. `offset`: what is added last, and so has no part in
/// the factor; undefined: nothing.
std::optional<CommonFactor> unexplained_factor(const Tensor& result, std::span<const Tensor> lanes,
                                               const Tensor& offset, DType dtype);

}  // namespace assay
