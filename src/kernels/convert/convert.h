// Rows of narrow elements to float32 and back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// Element types of at most two bytes that rows are converted from and to. float16 and bfloat16 are bits.
enum class NarrowType : uint8_t { kUint8, kInt8, kFloat16, kBfloat16 };

/// Bytes of an element.
constexpr size_t narrow_size(NarrowType type) {
  return type == NarrowType::kUint8 || type == NarrowType::kInt8 ? 1 : 2;
}

/// to[i] = from[i], exactly.
void widen_row(NarrowType type, const void* from, float* to, size_t count) noexcept;

/// to[i] = from[i], rounded to the nearest, halves to even. Integers saturate, and NaN becomes 0; float16 and
/// bfloat16 overflow to infinity and keep NaN.
void narrow_row(NarrowType type, const float* from, void* to, size_t count) noexcept;

}  // namespace assay::kernels
