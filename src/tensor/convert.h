// Conversion between element types, with ONNX's rules for Cast.
#pragma once

#include "assay/unaligned_tensor.h"

namespace assay {

enum class E8M0Rounding : uint8_t;  // tensor/narrow_float.h

/// Every element converted. Float to float rounds to nearest even; with `saturate`, float to the float types
/// of 8 bits and less clamps to the largest finite value, else overflow gives infinity or NaN as the type has
/// them (ONNX Cast, attribute saturate); those of 4 and 6 bits have neither and always clamp. To float8e8m0
/// rounds away from zero, ONNX's default. Float to integer truncates towards zero; out of range it is what
/// C++ on x86-64 gives through int64 (ONNX leaves it undefined). Integer to integer keeps the low bits.
/// Anything to bool: non-zero. Numbers to strings and back as Python and NumPy print and read them. Real to
/// complex has no imaginary part; complex to any other type throws Error (kUnsupported), and so does complex
/// to or from strings. Returns `t` itself when the type is already right.
Tensor convert(const Tensor& t, DType to, bool saturate = true);

/// To float8e8m0, with ONNX Cast's attributes saturate and round_mode.
Tensor convert_to_e8m0(const Tensor& t, bool saturate, E8M0Rounding rounding);

/// The same as convert into float64; as the reference reads any real type.
inline Tensor to_float64(const Tensor& t) { return convert(t, DType::kFloat64); }
inline Tensor to_float64(const UnalignedTensor& t) { return to_float64(t.aligned()); }

}  // namespace assay
