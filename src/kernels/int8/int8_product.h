// Products of 8-bit integers with exact 32-bit sums. The left operand stays in 8 bits, as unsigned quantized
// values; the right one is packed as signed numbers. The zero points' part is computed from the sums of rows
// and columns, and no instruction saturates on the way.
#pragma once

#include <cstdint>

#include "kernels/int8/requantize.h"

namespace assay::kernels {

/// Columns of the weights that are stored together.
inline constexpr int64_t kInt8Columns = 16;
/// Rows of a tile are a multiple of this where they can be.
inline constexpr int64_t kInt8Rows = 12;
/// Longest sum that cannot overflow: each product is at most 255 * 255.
inline constexpr int64_t kMaxInt8Sum = (int64_t{1} << 31) / (255 * 255) - 1;

/// One number has the marks of this many groups of four rows.
inline constexpr int64_t kInt8Marks = 64;

/// Bytes of a row of the left operand: k, padded to a multiple of four.
constexpr int64_t int8_row_length(int64_t k) { return (k + 3) / 4 * 4; }

/// Facts on the columns of a panel: the sums of their numbers, and by how much the packed numbers are less
/// than the real ones (0 where they fit in 8 bits as they are).
struct Int8Columns {
  int32_t sums[kInt8Columns], shifts[kInt8Columns];
};

/// The right operand: k rows of n columns.
struct Int8Weights {
  int64_t n = 0, k = 0;

  int64_t panels() const { return panels_of(n); }
  static constexpr int64_t panels_of(int64_t columns) { return (columns + kInt8Columns - 1) / kInt8Columns; }
  /// Bytes that they need packed.
  int64_t bytes() const { return panels() * panel_bytes(); }
  int64_t panel_bytes() const {
    return int8_row_length(k) * kInt8Columns + static_cast<int64_t>(sizeof(Int8Columns)) +
           (int8_row_length(k) / 4 + kInt8Marks - 1) / kInt8Marks * static_cast<int64_t>(sizeof(uint64_t));
  }
  /// Of a panel.
  const Int8Columns* columns(const void* packed, int64_t panel) const {
    return reinterpret_cast<const Int8Columns*>(static_cast<const char*>(packed) + panel * panel_bytes() +
                                                int8_row_length(k) * kInt8Columns);
  }
  /// Of a panel: for each four rows a bit, set where two products of neighbours in a column, with inputs of
  /// 255, do not fit in 16 bits together.
  const uint64_t* marks(const void* packed, int64_t panel) const {
    return reinterpret_cast<const uint64_t*>(columns(packed, panel) + 1);
  }
  /// Whether any of these panels has a shift.
  bool shifts(const void* packed, int64_t panel, int64_t count) const;
};

/// The left operand: rows of int8_row_length(k) quantized values, zero beyond k. Those of int8 are stored
/// with 128 added, and so is their zero point.
struct Int8Rows {
  const uint8_t* data;
  int64_t stride;
  int zero_point;  ///< 0 to 255
};

/// Packs the weights at source[row * row_stride + column * column_stride] less their zero points. No
/// two numbers of a column may be more than 255 apart.
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

/// sums[i] + addend[i] as float32, in place; addend may be null.
void sums_to_floats(int32_t* sums, const int32_t* addend, int64_t count) noexcept;

/// y[i] = sums[i] * scale[i] + bias[i]; bias may be null. `y` may be the memory of `sums`.
void scale_sums(const int32_t* sums, int64_t count, const float* scale, const float* bias, float* y) noexcept;

}  // namespace assay::kernels
