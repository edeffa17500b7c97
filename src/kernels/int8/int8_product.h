// Products of 8-bit integers with exact 32-bit sums. The left operand stays in 8 bits, as unsigned quantized
// values; the right one is packed as signed numbers. The zero points' part is computed from the sums of rows
// and columns, and no instruction saturates on the way.
#pragma once

#include <cstdint>

#include "kernels/int8/int8_operands.h"
#include "kernels/int8/requantize.h"

namespace assay::kernels {

/// Packs weights less their zero points, read from source[row * row_stride + column * column_stride]. No two
/// numbers of a column may be more than 255 apart.
void pack_int8_weights(const Int8Weights& weights, const int16_t* source, int64_t row_stride,
                       int64_t column_stride, void* packed) noexcept;

/// to[i] = from[i] as Int8Rows wants it, where `from` holds int8 or uint8.
void to_unsigned_quantized(const void* from, bool is_signed, uint8_t* to, int64_t count) noexcept;

/// sums[r, c] = sum over k of (a[r, k] - a.zero_point) * weights[k, c] for the columns of `count` panels from
/// `panel` on, columns beyond n included. Rows of `sums` are `stride` apart.
void int8_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                  const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride) noexcept;

/// requantize() of int8_product(), for `columns` columns from panel `panel` on. `sums` is scratch memory for
/// that.
void int8_product_quantized(const Int8Weights& weights, const void* packed, int64_t panel, int64_t columns,
                            const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride,
                            const QuantizedEpilogue& end) noexcept;

/// Whether the processor sums products of 8 bits in one instruction, and the products here use it.
bool has_int8_instructions() noexcept;

/// sums[i] + addend[i] as float32, in place; addend may be null.
void sums_to_floats(int32_t* sums, const int32_t* addend, int64_t count) noexcept;

/// y[i] = sums[i] * scale[i] + bias[i]; bias may be null. `y` may be the memory of `sums`.
void scale_sums(const int32_t* sums, int64_t count, const float* scale, const float* bias, float* y) noexcept;

}  // namespace assay::kernels
