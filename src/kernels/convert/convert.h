// Rows of narrow elements to float32 and back.
#pragma once

#include <cstddef>

#include "assay/dtype.h"

namespace assay::kernels {

/// to[i] = from[i], exactly. Of uint8 and int8, and of float16 and bfloat16, which are bits; no other types.
void widen_row(DType type, const void* from, float* to, size_t count) noexcept;

/// The same way back, rounded to the nearest, halves to even. Integers saturate, and NaN becomes 0; float16
/// and bfloat16 overflow to infinity and keep NaN.
void narrow_row(DType type, const float* from, void* to, size_t count) noexcept;

}  // namespace assay::kernels
