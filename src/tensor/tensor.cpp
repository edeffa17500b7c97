#include "assay/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace assay {
namespace {

constexpr size_t kAlignment = 64;

std::shared_ptr<void> allocate_bytes(size_t bytes, const Shape& shape, DType dtype) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  void* p = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
  require(p != nullptr, ErrorCode::kInvalidArgument, "cannot allocate {} bytes for a {} tensor of shape {}",
          bytes, dtype_name(dtype), shape.str());
  return {p, std::free};
}

}  // namespace

Tensor Tensor::allocate(DType dtype, Shape shape) {
  Tensor t;
  t.numel_ = shape.numel();
  require(dtype != DType::kUndefined, ErrorCode::kInternal, "a tensor needs an element type");
  if (dtype == DType::kString) {
    auto strings = std::make_shared<std::vector<std::string>>(static_cast<size_t>(t.numel_));
    t.data_ = strings->data();
    t.owner_ = std::move(strings);
  } else {
    require(t.numel_ <= INT64_MAX / 16, ErrorCode::kInvalidArgument,
            "a {} tensor of shape {} does not fit in memory", dtype_name(dtype), shape.str());
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
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::bitcast(DType dtype) const {
  require(bit_width(dtype) == bit_width(dtype_), ErrorCode::kInternal, "cannot reinterpret {} as {}",
          dtype_name(dtype_), dtype_name(dtype));
  Tensor t = *this;
  t.dtype_ = dtype;
  return t;
}

bool Tensor::identical(const Tensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_) return false;
  if (data_ == other.data_ || numel_ == 0) return true;
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

Tensor Tensor::aligned() const {
  const auto unit = static_cast<uintptr_t>(std::clamp(bit_width(dtype_) / 8, 1, 8));
  if (dtype_ == DType::kString || reinterpret_cast<uintptr_t>(data_) % unit == 0) return *this;
  Tensor copy = allocate(dtype_, shape_);
  std::memcpy(copy.mutable_data(), data_, nbytes_);
  return copy;
}

void Tensor::wrong_access(DType t) const {
  require(t != dtype_, ErrorCode::kInternal, "a misaligned {} tensor was read without aligned()",
          dtype_name(dtype_));
  fail(ErrorCode::kInternal, "a {} tensor was read as {}", dtype_name(dtype_), dtype_name(t));
}

const Tensor* find(const TensorList& list, std::string_view name) {
  for (const NamedTensor& t : list)
    if (t.name == name) return &t.tensor;
  return nullptr;
}

}  // namespace assay
