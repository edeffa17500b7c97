// The element types that kernels for any number are made for.
#pragma once

#include <cstdint>

#include "assay/dtype.h"

namespace assay::kernels {

/// float32, float64 or an integer of whole bytes.
inline bool is_number(DType type) {
  return type == DType::kFloat32 || type == DType::kFloat64 || (is_integer(type) && bit_width(type) >= 8);
}

/// Calls fn with a number of the type, one of is_number().
template <typename Fn>
auto visit_number(DType type, Fn fn) {
  switch (type) {
    case DType::kFloat64:
      return fn(double{});
    case DType::kInt64:
      return fn(int64_t{});
    case DType::kInt32:
      return fn(int32_t{});
    case DType::kInt16:
      return fn(int16_t{});
    case DType::kInt8:
      return fn(int8_t{});
    case DType::kUInt64:
      return fn(uint64_t{});
    case DType::kUInt32:
      return fn(uint32_t{});
    case DType::kUInt16:
      return fn(uint16_t{});
    case DType::kUInt8:
      return fn(uint8_t{});
    default:
      return fn(float{});
  }
}

}  // namespace assay::kernels
