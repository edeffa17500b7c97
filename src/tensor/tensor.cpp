#include "assay/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/article.h"
#include "base/memory_limit.h"
#include "base/wording.h"
#include "tensor/block_reuse.h"
#include "tensor/room.h"

namespace assay {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;

/// Overhead of a tensor in addition to its elements: the allocations' own fields and the control block.
constexpr int64_t kOverhead = 128;

[[noreturn]] void refuse(int64_t bytes, const Shape& shape, DType dtype) {
  Error e(ErrorCode::kResource,
          bytes > memory_limit()
              ? fmt::format("{} tensor of shape {} takes more than the {} bytes that there are",
                            with_article(dtype_name(dtype)), shape.str(), memory_limit())
              : fmt::format("{} tensor of shape {} takes {} bytes, but {} of {} bytes are in use",
                            with_article(dtype_name(dtype)), shape.str(), bytes, memory_in_use(),
                            memory_limit()));
  throw set_remedy(e, Say::kMemoryLimit);
}

/// A part of the budget for a tensor.
MemoryShare share_for(int64_t bytes, const Shape& shape, DType dtype) {
  MemoryShare share;
  if (!share.take(bytes + kOverhead)) refuse(bytes, shape, dtype);
  return share;
}

/// Frees memory and returns its part of the budget.
struct Release {
  MemoryShare share;
  size_t block = 0;  ///< bytes of a reusable block, or 0
  void operator()(void* p) const { block != 0 ? internal::return_block(p, block) : std::free(p); }
};

struct Strings {
  MemoryShare share;
  std::vector<std::string> list;
};

std::shared_ptr<void> allocate_bytes(size_t bytes, const Shape& shape, DType dtype) {
  Release release{share_for(static_cast<int64_t>(bytes), shape, dtype), 0};
  size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (void* block = rounded < bytes ? nullptr : internal::take_block(rounded); block != nullptr) {
    release.block = rounded;
    return {block, std::move(release)};
  }
  // Large tensors prefer huge pages: advice only.
  const bool large = rounded >= 2 * kHugePage && rounded <= SIZE_MAX - kHugePage;
  if (large) rounded = (rounded + kHugePage - 1) / kHugePage * kHugePage;
  void* p = rounded < bytes ? nullptr : std::aligned_alloc(large ? kHugePage : kAlignment, rounded);
  if (large && p != nullptr) ::madvise(p, rounded, MADV_HUGEPAGE);
  if (p == nullptr) [[unlikely]]
    fail(ErrorCode::kInvalidArgument, "cannot allocate {} bytes for {} tensor of shape {}", bytes,
         with_article(dtype_name(dtype)), shape.str());
  return {p, std::move(release)};
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
  if (room_of(dtype, shape) > memory_limit()) [[unlikely]]
    refuse(INT64_MAX, shape, dtype);
  if (dtype == DType::kString) {
    MemoryShare share = share_for(t.numel_ * int64_t{sizeof(std::string)}, shape, dtype);
    auto strings =
        std::make_shared<Strings>(std::move(share), std::vector<std::string>(static_cast<size_t>(t.numel_)));
    t.data_ = strings->list.data();
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
  if (assay::is_container(dtype)) [[unlikely]]
    fail(ErrorCode::kInternal, "{} has no bytes to view", with_article(dtype_name(dtype)));
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
  if (!owns_alone()) {
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
  if (is_container() && shape != shape_) [[unlikely]]
    fail(ErrorCode::kInternal, "{} cannot be reshaped to {}", with_article(dtype_name(dtype_)), shape.str());
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

void Tensor::wrong_access(DType t) const {
  require(!is_container(), ErrorCode::kInternal, "a value of type {} was read as a tensor",
          dtype_name(dtype_));
  fail(ErrorCode::kInternal, "{} tensor was read as {}", with_article(dtype_name(dtype_)), dtype_name(t));
}

const Tensor* find(const TensorList& list, std::string_view name) {
  for (const NamedTensor& t : list)
    if (t.name == name) return &t.tensor;
  return nullptr;
}

}  // namespace assay
