// The decimal text of floating types of 16 bits and fewer.
#pragma once

#include "assay/dtype.h"
#include "base/python_repr.h"

namespace assay {

/// The fewest digits that identify the number `code` within the type, the nearest to it where several would
/// do. `dtype` is a floating type of at most 16 bits; the number must be finite.
Decimal shortest_decimal(DType dtype, uint32_t code);
/// python_float_repr in the digits of the type; infinities and NaN included.
std::string narrow_float_repr(DType dtype, uint32_t code);

}  // namespace assay
