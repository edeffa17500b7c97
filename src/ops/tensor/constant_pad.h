// Padding with one value: the common part of Pad and CenterCropPad.
#pragma once

#include <vector>

#include "assay/tensor.h"

namespace assay {

/// The numbers of elements added before and after every dimension; a negative number crops.
struct Pads {
  std::vector<int64_t> begin, end;
};

/// The tensor with its dimensions padded with the single element of `value`. Any element type, the same for
/// both. Throws Error when no element would be left to cut or the result is larger than checked_allocation
/// allows.
Tensor pad_constant(const Tensor& x, const Pads& pads, const Tensor& value);

}  // namespace assay
