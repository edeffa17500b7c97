#include "assay/dtype.h"

#include <array>
#include <cmath>

namespace assay {
namespace {

enum class Kind : uint8_t { kOther, kFloat, kSigned, kUnsigned, kComplex };

struct Info {
  DType dtype;
  int bits;
  Kind kind;
  int significand;  ///< bits of the significand, hidden one included; 0 for types without rounding
  std::string_view numpy;
  std::string_view onnx;
};

constexpr std::array<Info, kDTypeCount> kInfo = {{
    {DType::kUndefined, 0, Kind::kOther, 0, "undefined", "undefined"},
    {DType::kFloat32, 32, Kind::kFloat, 24, "float32", "float"},
    {DType::kUInt8, 8, Kind::kUnsigned, 0, "uint8", "uint8"},
    {DType::kInt8, 8, Kind::kSigned, 0, "int8", "int8"},
    {DType::kUInt16, 16, Kind::kUnsigned, 0, "uint16", "uint16"},
    {DType::kInt16, 16, Kind::kSigned, 0, "int16", "int16"},
    {DType::kInt32, 32, Kind::kSigned, 0, "int32", "int32"},
    {DType::kInt64, 64, Kind::kSigned, 0, "int64", "int64"},
    {DType::kString, 0, Kind::kOther, 0, "string", "string"},
    {DType::kBool, 8, Kind::kOther, 0, "bool", "bool"},
    {DType::kFloat16, 16, Kind::kFloat, 11, "float16", "float16"},
    {DType::kFloat64, 64, Kind::kFloat, 53, "float64", "double"},
    {DType::kUInt32, 32, Kind::kUnsigned, 0, "uint32", "uint32"},
    {DType::kUInt64, 64, Kind::kUnsigned, 0, "uint64", "uint64"},
    {DType::kComplex64, 64, Kind::kComplex, 24, "complex64", "complex64"},
    {DType::kComplex128, 128, Kind::kComplex, 53, "complex128", "complex128"},
    {DType::kBFloat16, 16, Kind::kFloat, 8, "bfloat16", "bfloat16"},
    {DType::kFloat8E4M3FN, 8, Kind::kFloat, 4, "float8e4m3fn", "float8e4m3fn"},
    {DType::kFloat8E4M3FNUZ, 8, Kind::kFloat, 4, "float8e4m3fnuz", "float8e4m3fnuz"},
    {DType::kFloat8E5M2, 8, Kind::kFloat, 3, "float8e5m2", "float8e5m2"},
    {DType::kFloat8E5M2FNUZ, 8, Kind::kFloat, 3, "float8e5m2fnuz", "float8e5m2fnuz"},
    {DType::kUInt4, 4, Kind::kUnsigned, 0, "uint4", "uint4"},
    {DType::kInt4, 4, Kind::kSigned, 0, "int4", "int4"},
    {DType::kFloat4E2M1, 4, Kind::kFloat, 2, "float4", "float4e2m1"},
    {DType::kFloat8E8M0, 8, Kind::kFloat, 1, "float8e8m0", "float8e8m0"},
    {DType::kUInt2, 2, Kind::kUnsigned, 0, "uint2", "uint2"},
    {DType::kInt2, 2, Kind::kSigned, 0, "int2", "int2"},
    {DType::kFloat6E2M3, 6, Kind::kFloat, 4, "float6e2m3", "float6e2m3"},
    {DType::kFloat6E3M2, 6, Kind::kFloat, 3, "float6e3m2", "float6e3m2"},
}};

constexpr std::array<Info, 3> kContainers = {{
    {DType::kSequence, 0, Kind::kOther, 0, "sequence", "sequence"},
    {DType::kOptional, 0, Kind::kOther, 0, "optional", "optional"},
    {DType::kMap, 0, Kind::kOther, 0, "map", "map"},
}};

const Info& info(DType t) {
  const size_t container = static_cast<size_t>(t) - static_cast<size_t>(DType::kSequence);
  if (container < kContainers.size()) [[unlikely]]
    return kContainers[container];
  return kInfo[static_cast<size_t>(t) < kInfo.size() ? static_cast<size_t>(t) : 0];
}

}  // namespace

bool is_known_dtype(int64_t onnx_number) { return onnx_number > 0 && onnx_number < kDTypeCount; }
int bit_width(DType t) { return info(t).bits; }

size_t storage_bytes(DType t, int64_t count) {
  const auto bits = static_cast<size_t>(bit_width(t));
  const auto n = static_cast<size_t>(count);
  return bits >= 8 ? n * (bits / 8) : (n * bits + 7) / 8;
}

bool is_float(DType t) { return info(t).kind == Kind::kFloat; }
bool is_integer(DType t) { return info(t).kind == Kind::kSigned || info(t).kind == Kind::kUnsigned; }
bool is_signed_integer(DType t) { return info(t).kind == Kind::kSigned; }
bool is_complex(DType t) { return info(t).kind == Kind::kComplex; }
bool is_packed(DType t) { return info(t).bits > 0 && info(t).bits < 8; }
std::string_view dtype_name(DType t) { return info(t).numpy; }
std::string_view onnx_name(DType t) { return info(t).onnx; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Info& i : kInfo)
    if (i.dtype != DType::kUndefined && (name == i.numpy || name == i.onnx)) return i.dtype;
  return std::nullopt;
}

double unit_roundoff(DType t) {
  return info(t).significand == 0 ? 0.0 : std::ldexp(1.0, -info(t).significand);
}

}  // namespace assay
