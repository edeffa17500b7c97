#include "ops/tensor/constant_pad.h"

#include <algorithm>
#include <cstdlib>

#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"

namespace assay {

Tensor pad_constant(const Tensor& x, const Pads& pads, const Tensor& value) {
  require(value.dtype() == x.dtype() && value.numel() == 1, ErrorCode::kInvalidModel,
          "the data are {}, constant_value is {} of shape {}", dtype_name(x.dtype()),
          dtype_name(value.dtype()), value.shape().str());
  Shape out, core;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    const int64_t cut = std::max<int64_t>(-pads.begin[d], 0) + std::max<int64_t>(-pads.end[d], 0);
    core.push_back(std::max<int64_t>(x.dim(d) - cut, 0));
    out.push_back(x.dim(d) + pads.begin[d] + pads.end[d]);
  }
  Tensor y = checked_allocation(unpacked_dtype(x.dtype()), out);
  fill_elements(y, unpacked(value));
  Region from{0, x.shape().strides()}, to{0, out.strides()};
  for (size_t d = 0; d < out.size(); ++d) {
    Region& moved = pads.begin[d] < 0 ? from : to;
    moved.offset += std::abs(pads.begin[d]) * moved.strides[d];
  }
  strided_copy(unpacked(x), from, y, to, core);
  return repacked(std::move(y), x.dtype());
}

}  // namespace assay
