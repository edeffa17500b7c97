// Elements as the movement operators handle them: bit patterns of 1, 2, 4, 8 or 16 bytes, or strings.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "assay/tensor.h"

namespace assay {

/// Throws Error (kInvalidModel) when a tensor needs more than memory_left(), extents of 0 counted as 1
/// (room_of).
void check_output_size(DType dtype, const Shape& shape);
/// Tensor::allocate after check_output_size.
Tensor checked_allocation(DType dtype, Shape shape);

/// The type of unpacked(): uint8 for types that share a byte, else the type itself.
DType unpacked_dtype(DType dtype);
/// The tensor with at least a byte for each element: the bit patterns of a packed type as uint8, any other as
/// it is.
Tensor unpacked(const Tensor& t);
/// The inverse: a tensor of unpacked_dtype(dtype) as one of `dtype`.
Tensor repacked(Tensor t, DType dtype);

/// The bit pattern of an element of N bytes. Without alignment, so that it fits any storage.
template <size_t N>
struct Bits {
  std::array<std::byte, N> bytes;
};

/// Calls f.template operator()<E>(), E being Bits<N> for the width of an unpacked type, or std::string.
template <typename F>
void visit_elements(DType dtype, F&& f) {
  if (dtype == DType::kString) return f.template operator()<std::string>();
  switch (bit_width(dtype)) {
    case 8:
      return f.template operator()<Bits<1>>();
    case 16:
      return f.template operator()<Bits<2>>();
    case 32:
      return f.template operator()<Bits<4>>();
    case 64:
      return f.template operator()<Bits<8>>();
    case 128:
      return f.template operator()<Bits<16>>();
    default:
      fail(ErrorCode::kInternal, "elements of type {} cannot be moved", dtype_name(dtype));
  }
}

/// The storage as elements of the width that visit_elements gave.
template <typename E>
const E* elements(const Tensor& t) {
  return static_cast<const E*>(t.data());
}
template <typename E>
E* mutable_elements(Tensor& t) {
  return static_cast<E*>(t.mutable_data());
}

/// Sets every element to the single element of `value`; both of one unpacked type.
void fill_elements(Tensor& t, const Tensor& value);

}  // namespace assay
