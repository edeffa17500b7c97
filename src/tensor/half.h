// float16 and bfloat16 one by one, and types of fewer than 8 bits unpacked. Whole tensors: tensor/convert.h.
#pragma once

#include "assay/tensor.h"
#include "tensor/narrow_float.h"

namespace assay {

/// Exact.
inline float half_to_float(uint16_t h) { return decode<Float16Format>(h); }
inline float bfloat16_to_float(uint16_t b) { return decode<BFloat16Format>(b); }

/// Round to nearest, ties to even; overflow gives infinity.
inline uint16_t float_to_half(float x) { return static_cast<uint16_t>(encode<Float16Format>(x, false)); }
inline uint16_t double_to_half(double x) { return static_cast<uint16_t>(encode<Float16Format>(x, false)); }
inline uint16_t float_to_bfloat16(float x) { return static_cast<uint16_t>(encode<BFloat16Format>(x, false)); }
inline uint16_t double_to_bfloat16(double x) {
  return static_cast<uint16_t>(encode<BFloat16Format>(x, false));
}

/// A packed tensor with one element per byte: int4 and int2 as int8, uint4 and uint2 as uint8; the floats of
/// 4 and 6 bits as float32. Any other tensor is returned as it is.
Tensor unpack(const Tensor& t);
/// The reverse: integers keep their low bits. Throws Error (kInternal) unless `to` is a packed type and `t`
/// is of the type that unpack() gives for it.
Tensor pack(const Tensor& t, DType to);

}  // namespace assay
