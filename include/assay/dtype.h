// Element types. The numbers are those of ONNX's TensorProto.DataType (onnx.proto3), so files need no
// mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "assay/api.h"

namespace ASSAY_API assay {

enum class DType : uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,

  // Containers of tensors (Tensor::elements()). Not numbers of ONNX: they never occur in a file.
  kSequence = 128,
  kOptional = 129,
  kMap = 130,
};
/// Of the element types.
inline constexpr int kDTypeCount = 29;

/// True for a number that names one of ONNX's element types (kUndefined excluded).
bool is_known_dtype(int64_t onnx_number);
constexpr bool is_container(DType t) { return t >= DType::kSequence; }

/// Bits of one element; 0 for strings, containers and kUndefined.
int bit_width(DType t);
/// Bytes that hold `count` elements; types below 8 bits are packed, low bits first, the last byte padded with
/// 0.
size_t storage_bytes(DType t, int64_t count);

bool is_float(DType t);    ///< every real floating type, 4 to 64 bits
bool is_integer(DType t);  ///< every signed or unsigned integer type, without bool
bool is_signed_integer(DType t);
bool is_complex(DType t);
bool is_packed(DType t);  ///< elements share bytes: fewer than 8 bits each

/// NumPy's name: float32, int64, bool, ...; sequence, optional or map for a container.
std::string_view dtype_name(DType t);
/// The name in ONNX schemas: float, double, int64, ...
std::string_view onnx_name(DType t);
/// Finds an element type by its NumPy name or schema name.
std::optional<DType> dtype_from_name(std::string_view name);

/// Unit roundoff u of a floating type (half the distance from 1 to the next number): 2^-24 for float32. 0 for
/// others.
double unit_roundoff(DType t);

}  // namespace assay
