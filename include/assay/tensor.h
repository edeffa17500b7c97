// A tensor in memory: element type, shape and shared, immutable-by-default storage. ONNX's other values
// (sequences, optionals, maps) are Tensors too, whose elements are Tensors, so that code that passes values
// on needs only one path.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/dtype.h"
#include "assay/error.h"
#include "assay/shape.h"

namespace ASSAY_API assay {

/// Maps C++ element types to DType. Half precision and narrower types have no C++ type here: their storage is
/// bytes, and tensor/convert.h converts.
template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::kFloat32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::kFloat64;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::kBool;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::kInt8;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::kUInt8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::kInt16;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DType::kUInt16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::kInt32;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::kUInt32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::kInt64;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::kUInt64;
  else if constexpr (std::is_same_v<T, std::string>)
    return DType::kString;
  else
    return DType::kUndefined;
}

/// Whether elements of the type may begin at the address.
bool is_aligned_for(DType dtype, const void* data);

/// A contiguous row-major tensor. Copies share the storage; writing goes through mutable_data(), which copies
/// first when the storage is shared or read-only (a mapped file). Storage is aligned to 64 bytes when
/// allocated here, and always for the element type (is_aligned_for()); data at arbitrary addresses of a file
/// are an UnalignedTensor (assay/unaligned_tensor.h).
///
/// A container (kSequence, kOptional, kMap) has one dimension, whose extent is the number of elements, and is
/// never written to. It has no bytes of its own: data() and mutable_data() throw Error (kInternal).
class Tensor {
 public:
  /// No tensor: dtype kUndefined.
  Tensor() = default;

  /// Uninitialized storage (strings: empty). Throws Error (kInvalidArgument) on overflow or when memory is
  /// refused.
  static Tensor allocate(DType dtype, Shape shape);
  static Tensor zeros(DType dtype, Shape shape);
  /// A view of bytes that `owner` keeps alive; the bytes are never written. Throws Error (kInternal) when
  /// they are misaligned for the type.
  static Tensor view(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner);

  template <typename T>
  static Tensor from(Shape shape, std::span<const T> values);
  template <typename T>
  static Tensor from(Shape shape, const std::vector<T>& values) {
    return from<T>(std::move(shape), std::span<const T>(values));
  }
  /// One dimension.
  template <typename T>
  static Tensor vector(const std::vector<T>& values) {
    return from<T>(Shape{static_cast<int64_t>(values.size())}, std::span<const T>(values));
  }
  template <typename T>
  static Tensor scalar(T value) {
    return from<T>(Shape{}, std::span<const T>(&value, 1));
  }

  /// A sequence of shape [n]. Throws Error (kInvalidModel) unless all elements are of one type, and when
  /// containers nest deeper than kMaxContainerDepth.
  static Tensor sequence(std::vector<Tensor> elements);
  /// An optional: of shape [1], or of shape [0] when the element is undefined. Throws for nesting as
  /// sequence().
  static Tensor optional(Tensor element);
  /// A map, of shape [2]: elements()[0] are the keys, a tensor of one dimension of integers or strings,
  /// elements()[1] the values, a tensor of one dimension or a sequence, in the order of the keys. Throws
  /// Error (kInvalidModel) when they are anything else or differ in number, and for nesting as sequence().
  static Tensor map(Tensor keys, Tensor values);
  static constexpr int kMaxContainerDepth = 16;
  /// This sequence with one more element before `position`, and without the one at `position`. At either end
  /// this shares the other elements and takes constant time. Throw as sequence(); Error (kInternal) for a
  /// position out of range.
  Tensor with_element(size_t position, Tensor element) const;
  Tensor without_element(size_t position) const;

  bool defined() const { return dtype_ != DType::kUndefined; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(size_t i) const { return shape_[i]; }
  int64_t numel() const { return numel_; }
  /// Bytes of the elements; 0 for strings; of a container, those of all tensors in it.
  size_t nbytes() const { return nbytes_; }

  bool is_container() const { return assay::is_container(dtype_); }
  /// The elements of a container. Throws Error (kInternal) for a tensor.
  std::span<const Tensor> elements() const;
  /// The set of types of the tensors in a container, including nested containers: bit t for DType t. It may
  /// include types that no longer occur. Inspects no element. Throws as elements().
  uint32_t leaf_types() const;
  /// True when both look at the same storage, so that equal types and shapes mean equal elements.
  bool shares_storage(const Tensor& other) const { return data_ == other.data_; }
  /// The storage is not shared: mutable_data() does not copy.
  bool owns_alone() const { return writable_ && owner_.use_count() == 1; }

  /// Raw bytes; not for strings.
  const void* data() const {
    if (is_container()) [[unlikely]]
      wrong_access(DType::kUndefined);
    return data_;
  }
  /// Typed elements; throws Error (kInternal) when T is not the element type.
  template <typename T>
  const T* data() const {
    if (dtype_of<T>() != dtype_) [[unlikely]]
      wrong_access(dtype_of<T>());
    return static_cast<const T*>(data_);
  }
  template <typename T>
  std::span<const T> span() const {
    return {data<T>(), static_cast<size_t>(numel_)};
  }
  /// Writable bytes; copies the storage first unless this is its only user.
  void* mutable_data();
  template <typename T>
  T* mutable_data() {
    if (dtype_of<T>() != dtype_) [[unlikely]]
      wrong_access(dtype_of<T>());
    return static_cast<T*>(mutable_data());
  }
  template <typename T>
  std::span<T> mutable_span() {
    return {mutable_data<T>(), static_cast<size_t>(numel_)};
  }
  template <typename T>
  T item() const {
    require(numel_ == 1, ErrorCode::kInternal, "a tensor of shape {} was read as one number", shape_.str());
    return data<T>()[0];
  }

  /// The same storage under another shape with as many elements. A container keeps its one dimension.
  Tensor reshaped(Shape shape) const;
  /// The same storage with another element type of the same width (bit pattern kept).
  Tensor bitcast(DType dtype) const;
  /// True when both have the same type, shape and bytes (NaNs equal if bit-equal); for containers, when their
  /// elements are identical.
  bool identical(const Tensor& other) const;

  /// Elements as int64; for any integer or bool type. Throws Error for others.
  std::vector<int64_t> to_int64() const;

 private:
  friend class UnalignedTensor;  // wraps one that may be misaligned
  static Tensor view_anywhere(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner);
  [[noreturn]] void wrong_access(DType t) const;
  static Tensor container(DType kind, std::vector<Tensor> elements);

  DType dtype_ = DType::kUndefined;
  bool writable_ = false;
  Shape shape_;
  int64_t numel_ = 0;
  size_t nbytes_ = 0;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

template <typename T>
Tensor Tensor::from(Shape shape, std::span<const T> values) {
  Tensor t = allocate(dtype_of<T>(), std::move(shape));
  require(static_cast<size_t>(t.numel()) == values.size(), ErrorCode::kInternal, "{} values for shape {}",
          values.size(), t.shape().str());
  std::copy(values.begin(), values.end(), static_cast<T*>(t.mutable_data()));
  return t;
}
template <>
inline Tensor Tensor::vector(const std::vector<bool>& values) {
  Tensor t = allocate(DType::kBool, Shape{static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), static_cast<bool*>(t.mutable_data()));
  return t;
}

/// A tensor with the name under which a model or a file knows it.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};
/// Tensors in order (of the model's inputs or outputs).
using TensorList = std::vector<NamedTensor>;
const Tensor* find(const TensorList& list, std::string_view name);

}  // namespace assay
