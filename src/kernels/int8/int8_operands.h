// Operands of products of 8-bit integers (int8_product.h), and their layout in memory.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Columns of the weights in a panel.
inline constexpr int64_t kInt8Columns = 16;
/// Rows of a tile are a multiple of this where they can be.
inline constexpr int64_t kInt8Rows = 12;
/// Longest sum that cannot overflow: each product is at most 255 * 255.
inline constexpr int64_t kMaxInt8Sum = (int64_t{1} << 31) / (255 * 255) - 1;

/// Groups of four rows whose marks share one 64-bit word.
inline constexpr int64_t kInt8Marks = 64;

/// Bytes of a row of the left operand: k, padded to a multiple of four.
constexpr int64_t int8_row_length(int64_t k) { return (k + 3) / 4 * 4; }

/// Data on the columns of a panel: the sums of their numbers, and by how much the packed numbers are less
/// than they should be (0 where they fit in 8 bits as they are).
struct Int8Columns {
  int32_t sums[kInt8Columns], shifts[kInt8Columns];
};

/// The right operand: k rows of n columns.
struct Int8Weights {
  int64_t n = 0, k = 0;

  int64_t panels() const { return panels_of(n); }
  static constexpr int64_t panels_of(int64_t columns) { return (columns + kInt8Columns - 1) / kInt8Columns; }
  /// Bytes that they take packed.
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
  /// Of a panel: for each group of four rows a bit, set where the products of two neighbours in a column with
  /// a left operand of 255 have a sum that does not fit in 16 bits.
  const uint64_t* marks(const void* packed, int64_t panel) const {
    return reinterpret_cast<const uint64_t*>(columns(packed, panel) + 1);
  }
  /// Whether any of these panels has a shift.
  bool shifts(const void* packed, int64_t panel, int64_t count) const;
};

/// The left operand: rows of int8_row_length(k) unsigned values, zero beyond k. Values of int8 are stored
/// with 128 added, and so is their zero point.
struct Int8Rows {
  const uint8_t* data;
  int64_t stride;
  int zero_point;  ///< 0 to 255
};

}  // namespace assay::kernels
