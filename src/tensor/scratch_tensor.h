// Storage for a tensor that is computed piece by piece.
#pragma once

#include <cstddef>
#include <memory>

#include "assay/tensor.h"

namespace assay {

/// Write-once elements: a large tensor is in a temporary file (NamelessFile), so that creating many takes
/// disk and not memory; a small one is in memory.
class ScratchTensor {
 public:
  /// Tensors of this size and above are on disk. Bytes.
  static constexpr size_t kOnDisk = size_t{1} << 20;

  /// Zeros; strings and containers are not allowed. Throws Error: kInvalidArgument on overflow or when memory
  /// is refused, kIo when the disk has no room.
  ScratchTensor(DType dtype, Shape shape, size_t on_disk = kOnDisk);

  /// The memory of the elements, aligned to 64 bytes.
  char* data() { return data_; }
  /// Marks the bytes before this offset as written; on disk, their pages are released.
  void written_up_to(size_t offset);
  /// Returns the tensor, which is then read-only, and empties the object.
  Tensor finish();

 private:
  Tensor tensor_;
  std::shared_ptr<const void> mapping_;  // null: in memory
  char* data_ = nullptr;
  size_t dropped_ = 0;
};

}  // namespace assay
