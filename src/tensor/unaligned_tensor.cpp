#include "assay/unaligned_tensor.h"

#include <cstring>

namespace assay {

UnalignedTensor UnalignedTensor::view(DType dtype, Shape shape, const void* data,
                                      std::shared_ptr<const void> owner) {
  return UnalignedTensor(Tensor::view_anywhere(dtype, std::move(shape), data, std::move(owner)));
}

Tensor UnalignedTensor::copied() const {
  Tensor copy = Tensor::allocate(dtype(), shape());
  if (nbytes() != 0) std::memcpy(copy.mutable_data(), data(), nbytes());
  return copy;
}

}  // namespace assay
