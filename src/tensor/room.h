// The memory that a tensor's extents imply.
#pragma once

#include <cstdint>

#include "assay/dtype.h"
#include "assay/shape.h"

namespace assay {

/// Bytes of a tensor of this shape as if every extent of 0 were 1; INT64_MAX when they are more. A tensor
/// without elements may have other extents of any size, and evaluations allocate lists of such lengths:
/// bounding this bounds them, too. Throws Error for negative extents.
int64_t room_of(DType dtype, const Shape& shape);

}  // namespace assay
