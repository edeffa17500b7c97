// Tensors that a run keeps: in memory up to a budget, the rest on disk, with the resident memory bounded.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "assay/tensor.h"

namespace assay {

/// The source of a StoredTensor that is not in
/// memory. Implementations are thread-safe.
class StoredTensorSource {
 public:
  virtual ~StoredTensorSource() = default;
  /// Loads the tensor; its memory is released with its last copy. Throws Error.
  virtual Tensor load() const = 0;
  /// Releases the resident pages of live tensors that
  /// load() returned; they are read again on access.
  virtual void release() const {}
};

/// A handle to a tensor whose type and shape are known and whose elements are loaded on demand:
/// from memory, from a TensorStore's file, or from a result file. Copies are cheap and share what they refer
/// to.
class StoredTensor {
 public:
  StoredTensor() = default;
  /// A tensor in memory.
  StoredTensor(Tensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT: a tensor is a stored tensor
  /// A tensor stored elsewhere. Throws Error when the shape has more elements than 64 bits can count.
  StoredTensor(DType dtype, Shape shape, std::shared_ptr<const StoredTensorSource> source);

  bool defined() const { return dtype() != DType::kUndefined; }
  DType dtype() const { return source_ ? dtype_ : tensor_.dtype(); }
  const Shape& shape() const { return source_ ? shape_ : tensor_.shape(); }
  int64_t numel() const { return source_ ? numel_ : tensor_.numel(); }
  /// Bytes of the elements; 0 for strings.
  size_t nbytes() const { return storage_bytes(dtype(), numel()); }
  bool in_memory() const { return source_ == nullptr; }

  /// The elements. One that is not in memory occupies memory only as long as a copy of the returned tensor
  /// lives: load one at a time and release it. Throws Error (a damaged file, no memory).
  Tensor load() const { return source_ ? source_->load() : tensor_; }
  /// Releases the resident pages of a loaded tensor that has to stay alive. No effect on a tensor in memory.
  void release() const {
    if (source_) source_->release();
  }

 private:
  friend class TensorStore;
  Tensor tensor_;
  std::shared_ptr<const void> reservation_;  // the tensor's part of a store's budget
  DType dtype_ = DType::kUndefined;
  Shape shape_;
  int64_t numel_ = 0;
  std::shared_ptr<const StoredTensorSource> source_;
};

/// A stored tensor with the name under which a model or a file knows it.
struct NamedStoredTensor {
  std::string name;
  StoredTensor tensor;
};
/// Stored tensors in order (of the model's inputs or outputs).
using StoredTensorList = std::vector<NamedStoredTensor>;
const StoredTensor* find(const StoredTensorList& list, std::string_view name);
/// All of them in memory together.
TensorList load_all(const StoredTensorList& list);

/// Keeps tensors in memory up to a budget; others are written to one unlinked temporary file,
/// in the folder TMPDIR (default /var/tmp), which is freed with the process however it ends. The budget
/// counts live handles: with the last handle of a tensor its memory, or its part of the file, is freed.
/// Strings always stay in memory. Handles may outlive the store. Thread-safe.
class TensorStore {
 public:
  /// `memory_budget` in bytes; 0 spills every tensor.
  explicit TensorStore(size_t memory_budget);
  ~TensorStore();
  TensorStore(const TensorStore&) = delete;
  TensorStore& operator=(const TensorStore&) = delete;

  /// Takes a tensor over. Pass an rvalue: the memory of a tensor that is spilled is free when its last copy
  /// goes. One that is already in a mapped file (ReclaimableRange) stays there. Throws Error (kIo) that
  /// names the folder when the file cannot be made or the disk is full.
  StoredTensor put(Tensor tensor);

  /// Bytes of live tensors on either side.
  size_t bytes_in_memory() const;
  size_t bytes_on_disk() const;

 private:
  class Budget;
  class SpillFile;
  class SpillRange;
  class Spilled;
  class InPlace;
  std::shared_ptr<Budget> budget_;
  std::mutex mutex_;
  std::shared_ptr<SpillFile> file_;  // made when first needed
};

}  // namespace assay
