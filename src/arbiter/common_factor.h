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

/// Roundings vary between elements, so that their median is far below a single one, and a factor that is
/// itself rounded is off by one or two. Returns the worst factor beyond that, for a result that was computed
/// in float32 and rounded once (`lanes`: the exact result, and those for possible unrounded inputs); none if
/// there is none, or too few elements.
std::optional<CommonFactor> unexplained_factor(const Tensor& result, std::span<const Tensor> lanes,
                                               DType dtype);

}  // namespace assay
