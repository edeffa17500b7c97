// Room for a tensor that is computed piece by piece.
#pragma once

#include <cstddef>
#include <memory>

#include "assay/tensor.h"

namespace assay {

/// Elements to be written once: a large tensor lies in a temporary file (NamelessFile), so that making many
/// of them takes disk and not memory, a small one in memory.
class ScratchTensor {
 public:
  /// Tensors of this size and above lie on disk. Bytes.
  static constexpr size_t kOnDisk = size_t{1} << 20;

  /// Zeros; strings and containers are not allowed. Throws Error: kInvalidArgument on overflow or when memory
  /// is refused, kIo when the disk has no room.
  ScratchTensor(DType dtype, Shape shape, size_t on_disk = kOnDisk);

  /// Where the elements go, aligned to 64 bytes.
  char* data() { return data_; }
  /// Says that the bytes before this offset are written: on disk, they leave the memory.
  void written_up_to(size_t offset);
  /// The tensor; read-only from now on. The object is left without.
  Tensor finish();

 private:
  Tensor tensor_;
  std::shared_ptr<const void> mapping_;  // null: in memory
  char* data_ = nullptr;
  size_t dropped_ = 0;
};

}  // namespace assay
