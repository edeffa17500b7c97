#include "ops/tensor/elements.h"

#include <algorithm>

#include "base/article.h"
#include "base/memory_limit.h"
#include "base/parallel.h"
#include "tensor/packed_bits.h"
#include "tensor/room.h"

namespace assay {
namespace {

/// Elements that a thread copies at a time: fewer are copied before another thread wakes up.
constexpr int64_t kGrain = int64_t{1} << 20;

}  // namespace

void check_output_size(DType dtype, const Shape& shape) {
  if (room_of(dtype, shape) > memory_left()) [[unlikely]]
    fail(ErrorCode::kInvalidModel,
         "an output of shape {} and type {} is larger than the {} bytes that there are", shape.str(),
         dtype_name(dtype), memory_left());
}

Tensor checked_allocation(DType dtype, Shape shape) {
  check_output_size(dtype, shape);
  return Tensor::allocate(dtype, std::move(shape));
}

DType unpacked_dtype(DType dtype) { return is_packed(dtype) ? DType::kUInt8 : dtype; }

Tensor unpacked(const Tensor& t) {
  if (!is_packed(t.dtype())) return t;
  Tensor out = checked_allocation(DType::kUInt8, t.shape());
  const auto* from = static_cast<const uint8_t*>(t.data());
  auto* to = out.mutable_data<uint8_t>();
  const int bits = bit_width(t.dtype());
  parallel_for(t.numel(), kGrain, [&](int64_t first, int64_t last) {
    unpack_bits(from, first, bits, {to + first, to + last});
  });
  return out;
}

Tensor repacked(Tensor t, DType dtype) {
  if (!is_packed(dtype)) return t;
  Tensor out = Tensor::allocate(dtype, t.shape());
  const auto* from = t.data<uint8_t>();
  auto* to = static_cast<uint8_t*>(out.mutable_data());
  const int bits = bit_width(dtype);
  const int64_t groups = (t.numel() + kPackedGroup - 1) / kPackedGroup;
  parallel_for(groups, kGrain / kPackedGroup, [&](int64_t first_group, int64_t last_group) {
    const int64_t first = first_group * kPackedGroup, last = std::min(last_group * kPackedGroup, t.numel());
    pack_bits({from + first, from + last}, bits, to + first * bits / 8);
  });
  return out;
}

void fill_elements(Tensor& t, const Tensor& value) {
  require(t.dtype() == value.dtype() && value.numel() == 1, ErrorCode::kInternal,
          "{} tensor cannot be filled with {} tensor of shape {}", with_article(dtype_name(t.dtype())),
          with_article(dtype_name(value.dtype())), value.shape().str());
  visit_elements(t.dtype(), [&]<typename E>() {
    const E element = elements<E>(value)[0];
    E* to = mutable_elements<E>(t);
    parallel_for(t.numel(), kGrain / static_cast<int64_t>(sizeof(E)),
                 [&](int64_t first, int64_t last) { std::fill(to + first, to + last, element); });
  });
}

}  // namespace assay
