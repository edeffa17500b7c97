// The smallest and the largest numbers of floating types.
#pragma once

#include "assay/tensor.h"

namespace assay {

struct FloatRange {
  double smallest;  ///< positive subnormal number, or normal one where there are none
  double largest;   ///< finite
  double normal;    ///< smallest normal number
};

/// The range of float32 for types that are not floating.
FloatRange float_range(DType t);

}  // namespace assay
