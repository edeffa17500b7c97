// A tensor whose elements are at an arbitrary address of a mapped file.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "assay/api.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {

/// A contiguous row-major tensor that may begin at any address, as the weights of a mapped model do: it has
/// bytes, but no typed elements. aligned() gives the Tensor to compute with. Copies share the storage, which
/// is never written to.
class UnalignedTensor {
 public:
  /// No tensor: dtype kUndefined.
  UnalignedTensor() = default;
  /// Every tensor is one that happens to be aligned.
  UnalignedTensor(Tensor tensor) : raw_(std::move(tensor)) {}
  /// A view of bytes that `owner` keeps alive.
  static UnalignedTensor view(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner);

  bool defined() const { return raw_.defined(); }
  DType dtype() const { return raw_.dtype(); }
  const Shape& shape() const { return raw_.shape(); }
  int rank() const { return raw_.rank(); }
  int64_t dim(size_t i) const { return raw_.dim(i); }
  int64_t numel() const { return raw_.numel(); }
  /// As Tensor::nbytes().
  size_t nbytes() const { return raw_.nbytes(); }
  bool is_container() const { return raw_.is_container(); }

  /// Raw bytes; not for strings. Throws Error (kInternal) for a container.
  const void* data() const { return raw_.data(); }

  /// The tensor in this storage; null if that is misaligned for the type.
  const Tensor* if_aligned() const { return is_aligned() ? &raw_ : nullptr; }
  /// The tensor, copied if its storage is misaligned for its type. It may own its elements: keep it as long
  /// as they are used.
  Tensor aligned() const { return is_aligned() ? raw_ : copied(); }

  /// The same storage under another shape with as many elements.
  UnalignedTensor reshaped(Shape shape) const { return UnalignedTensor(raw_.reshaped(std::move(shape))); }
  /// As Tensor::to_int64().
  std::vector<int64_t> to_int64() const { return aligned().to_int64(); }
  /// True when both have the same type, shape and bytes.
  bool identical(const UnalignedTensor& other) const { return raw_.identical(other.raw_); }

 private:
  bool is_aligned() const { return raw_.is_container() || is_aligned_for(raw_.dtype(), raw_.data()); }
  Tensor copied() const;

  Tensor raw_;  ///< possibly misaligned; must not leave this class
};

}  // namespace assay
