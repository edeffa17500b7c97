#include "assay/unaligned_tensor.h"

#include <algorithm>
#include <cstring>

#include "base/resident_memory.h"

namespace assay {

UnalignedTensor UnalignedTensor::view(DType dtype, Shape shape, const void* data,
                                      std::shared_ptr<const void> owner) {
  return UnalignedTensor(Tensor::view_anywhere(dtype, std::move(shape), data, std::move(owner)));
}

/// Releases the copied pages of a file piece by piece: a large tensor must not be resident twice.
Tensor UnalignedTensor::copied() const {
  constexpr size_t kPiece = size_t{4} << 20;
  Tensor copy = Tensor::allocate(dtype(), shape());
  for (size_t done = 0; done < nbytes(); done += kPiece) {
    const size_t count = std::min(kPiece, nbytes() - done);
    const char* from = static_cast<const char*>(data()) + done;
    std::memcpy(static_cast<char*>(copy.mutable_data()) + done, from, count);
    drop_after_use(from, count);
  }
  return copy;
}

}  // namespace assay
