#include "ops/tensor/elements.h"

#include <algorithm>

#include "base/memory_limit.h"
#include "base/parallel.h"

namespace assay {
namespace {

constexpr int64_t kByteGrain = int64_t{1} << 18;

/// Elements of `bits` bits that share a byte, low bits first.
void unpack(const uint8_t* from, uint8_t* to, int64_t first, int64_t last, int bits) {
  const int64_t per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  for (int64_t i = first; i < last; ++i)
    to[i] = static_cast<uint8_t>(from[i / per_byte] >> (i % per_byte * bits) & mask);
}

/// Writes bytes [first, last) of the packed storage.
void pack(const uint8_t* from, int64_t count, uint8_t* to, int64_t first, int64_t last, int bits) {
  const int64_t per_byte = 8 / bits;
  for (int64_t b = first; b < last; ++b) {
    unsigned packed = 0;
    for (int64_t i = 0; i < per_byte && b * per_byte + i < count; ++i)
      packed |= static_cast<unsigned>(from[b * per_byte + i]) << (i * bits);
    to[b] = static_cast<uint8_t>(packed);
  }
}

}  // namespace

void check_output_size(DType dtype, const Shape& shape) {
  const int64_t bits =
      dtype == DType::kString ? static_cast<int64_t>(sizeof(std::string)) * 8 : bit_width(dtype);
  require(shape.numel() <= memory_limit() / bits * 8, ErrorCode::kInvalidModel,
          "an output of shape {} and type {} is larger than the {} bytes that there are", shape.str(),
          dtype_name(dtype), memory_limit());
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
  parallel_for(t.numel(), kByteGrain,
               [&](int64_t first, int64_t last) { unpack(from, to, first, last, bit_width(t.dtype())); });
  return out;
}

Tensor repacked(Tensor t, DType dtype) {
  if (!is_packed(dtype)) return t;
  Tensor out = Tensor::allocate(dtype, t.shape());
  const auto* from = t.data<uint8_t>();
  auto* to = static_cast<uint8_t*>(out.mutable_data());
  parallel_for(static_cast<int64_t>(out.nbytes()), kByteGrain, [&](int64_t first, int64_t last) {
    pack(from, t.numel(), to, first, last, bit_width(dtype));
  });
  return out;
}

void fill_elements(Tensor& t, const Tensor& value) {
  require(t.dtype() == value.dtype() && value.numel() == 1, ErrorCode::kInternal,
          "a {} tensor cannot be filled with a {} tensor of shape {}", dtype_name(t.dtype()),
          dtype_name(value.dtype()), value.shape().str());
  visit_elements(t.dtype(), [&]<typename E>() {
    const E element = elements<E>(value)[0];
    E* to = mutable_elements<E>(t);
    parallel_for(t.numel(), kByteGrain / static_cast<int64_t>(sizeof(E)),
                 [&](int64_t first, int64_t last) { std::fill(to + first, to + last, element); });
  });
}

}  // namespace assay
