#include "assay/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/memory_limit.h"
#include "tensor/container.h"

namespace assay {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;

std::shared_ptr<void> allocate_bytes(size_t bytes, const Shape& shape, DType dtype) {
  size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  // Large tensors want huge pages: advice only, without them everything still works.
  const bool large = rounded >= 2 * kHugePage && rounded <= SIZE_MAX - kHugePage;
  if (large) rounded = (rounded + kHugePage - 1) / kHugePage * kHugePage;
  void* p = rounded < bytes ? nullptr : std::aligned_alloc(large ? kHugePage : kAlignment, rounded);
  if (large && p != nullptr) ::madvise(p, rounded, MADV_HUGEPAGE);
  if (p == nullptr) [[unlikely]]
    fail(ErrorCode::kInvalidArgument, "cannot allocate {} bytes for a {} tensor of shape {}", bytes,
         dtype_name(dtype), shape.str());
  return {p, std::free};
}

}  // namespace

bool is_aligned_for(DType dtype, const void* data) {
  const auto unit = dtype == DType::kString ? alignof(std::string)
                                            : static_cast<size_t>(std::clamp(bit_width(dtype) / 8, 1, 8));
  return reinterpret_cast<uintptr_t>(data) % unit == 0;
}

Tensor Tensor::allocate(DType dtype, Shape shape) {
  Tensor t;
  t.numel_ = shape.numel();
  require(dtype != DType::kUndefined && !assay::is_container(dtype), ErrorCode::kInternal,
          "a tensor needs an element type");
  const auto bits = dtype == DType::kString ? int64_t{8 * sizeof(std::string)} : int64_t{bit_width(dtype)};
  if (t.numel_ > memory_limit() / std::max<int64_t>(bits, 1) * 8) [[unlikely]]
    fail(ErrorCode::kInvalidArgument, "a {} tensor of shape {} takes more than the {} bytes that there are",
         dtype_name(dtype), shape.str(), memory_limit());
  if (dtype == DType::kString) {
    auto strings = std::make_shared<std::vector<std::string>>(static_cast<size_t>(t.numel_));
    t.data_ = strings->data();
    t.owner_ = std::move(strings);
  } else {
    t.nbytes_ = storage_bytes(dtype, t.numel_);
    t.owner_ = allocate_bytes(t.nbytes_, shape, dtype);
    t.data_ = t.owner_.get();
  }
  t.dtype_ = dtype;
  t.shape_ = std::move(shape);
  t.writable_ = true;
  return t;
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor t = allocate(dtype, std::move(shape));
  if (dtype != DType::kString) std::memset(t.mutable_data(), 0, t.nbytes_);
  return t;
}

Tensor Tensor::view(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner) {
  if (!is_aligned_for(dtype, data)) [[unlikely]]
    fail(ErrorCode::kInternal, "{} elements cannot begin at the address {}", dtype_name(dtype), data);
  return view_anywhere(dtype, std::move(shape), data, std::move(owner));
}

Tensor Tensor::view_anywhere(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner) {
  require(!assay::is_container(dtype), ErrorCode::kInternal, "a {} has no bytes to view", dtype_name(dtype));
  Tensor t;
  t.dtype_ = dtype;
  t.numel_ = shape.numel();
  t.nbytes_ = storage_bytes(dtype, t.numel_);
  t.shape_ = std::move(shape);
  t.data_ = data;
  t.owner_ = std::move(owner);
  return t;
}

void* Tensor::mutable_data() {
  if (is_container()) wrong_access(DType::kUndefined);
  if (!writable_ || owner_.use_count() != 1) {
    Tensor copy = allocate(dtype_, shape_);
    if (dtype_ == DType::kString) {
      const auto* from = static_cast<const std::string*>(data_);
      std::copy(from, from + numel_, static_cast<std::string*>(const_cast<void*>(copy.data_)));
    } else if (nbytes_ != 0) {
      std::memcpy(const_cast<void*>(copy.data_), data_, nbytes_);
    }
    *this = std::move(copy);
  }
  return const_cast<void*>(data_);
}

Tensor Tensor::reshaped(Shape shape) const {
  require(shape.numel() == numel_, ErrorCode::kInvalidArgument, "cannot reshape {} to {}", shape_.str(),
          shape.str());
  require(!is_container() || shape == shape_, ErrorCode::kInternal, "a {} cannot be reshaped to {}",
          dtype_name(dtype_), shape.str());
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::bitcast(DType dtype) const {
  require(bit_width(dtype) == bit_width(dtype_) && !is_container() && !assay::is_container(dtype),
          ErrorCode::kInternal, "cannot reinterpret {} as {}", dtype_name(dtype_), dtype_name(dtype));
  Tensor t = *this;
  t.dtype_ = dtype;
  return t;
}

bool Tensor::identical(const Tensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_) return false;
  if (data_ == other.data_ || numel_ == 0) return true;
  if (is_container())
    return std::equal(elements().begin(), elements().end(), other.elements().begin(),
                      [](const Tensor& a, const Tensor& b) { return a.identical(b); });
  if (dtype_ == DType::kString) {
    const auto* a = static_cast<const std::string*>(data_);
    return std::equal(a, a + numel_, static_cast<const std::string*>(other.data_));
  }
  return std::memcmp(data_, other.data_, nbytes_) == 0;
}

std::vector<int64_t> Tensor::to_int64() const {
  std::vector<int64_t> out(static_cast<size_t>(numel_));
  const auto widen = [&]<typename T>(const T* p) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(p[i]);
  };
  switch (dtype_) {
    case DType::kInt8:
      widen(data<int8_t>());
      break;
    case DType::kUInt8:
      widen(data<uint8_t>());
      break;
    case DType::kInt16:
      widen(data<int16_t>());
      break;
    case DType::kUInt16:
      widen(data<uint16_t>());
      break;
    case DType::kInt32:
      widen(data<int32_t>());
      break;
    case DType::kUInt32:
      widen(data<uint32_t>());
      break;
    case DType::kInt64:
      widen(data<int64_t>());
      break;
    case DType::kUInt64:
      widen(data<uint64_t>());
      break;
    case DType::kBool:
      widen(data<bool>());
      break;
    default:
      fail(ErrorCode::kInvalidArgument, "expected integers, found a {} tensor", dtype_name(dtype_));
  }
  return out;
}

void Tensor::wrong_access(DType t) const {
  require(!is_container(), ErrorCode::kInternal, "a value of type {} was read as a tensor",
          dtype_name(dtype_));
  fail(ErrorCode::kInternal, "a {} tensor was read as {}", dtype_name(dtype_), dtype_name(t));
}

const Tensor* find(const TensorList& list, std::string_view name) {
  for (const NamedTensor& t : list)
    if (t.name == name) return &t.tensor;
  return nullptr;
}

}  // namespace assay
