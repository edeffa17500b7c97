// Constant matrices in panels of columns whose elements have a few bits: a part of them at a time becomes
// float32, for products with many rows.
#pragma once

#include <cstdint>

#include "kernels/panel/panel_matrix.h"

namespace assay::kernels {

/// Elements of a matrix that share a scale.
struct NbitsGrid {
  int64_t part = 1;  ///< rows, such as the inputs of a convolution's tap: each part begins with a new block
  int64_t rows = 1;  ///< of a block; the last one of a part may have fewer
  int64_t columns = 1;            ///< of a block
  bool is_same_in_parts = false;  ///< all parts have the scales of the first
};

/// The right operand, [k, n]: (level - zero point) * scale.
struct NbitsPanels {
  int64_t n = 0, k = 0;
  int bits = 4;  ///< of a level: 2, 4 or 8
  NbitsGrid grid;
  /// Panel by panel: a row of bytes, one for each column, has the quantized values of 8 / bits rows of the
  /// matrix, the first one in the low bits.
  const uint8_t* levels = nullptr;
  const float* scales = nullptr;         ///< [scale_rows(), scale_columns()], and then some more
  const uint8_t* zero_points = nullptr;  ///< quantized, as many as scales; null: half of the range

  int64_t panels() const { return (n + kPanelColumns - 1) / kPanelColumns; }
  int64_t filled_columns() const { return panels() * kPanelColumns; }
  int64_t rows_of_byte() const { return 8 / bits; }
  int64_t panel_bytes() const { return (k + rows_of_byte() - 1) / rows_of_byte() * kPanelColumns; }
  int64_t part_blocks() const { return (grid.part + grid.rows - 1) / grid.rows; }
  int64_t scale_rows() const { return part_blocks() * (grid.is_same_in_parts ? 1 : k / grid.part); }
  int64_t scale_columns() const { return (n + grid.columns - 1) / grid.columns; }
  /// With those behind the last one that vectors reach.
  int64_t scale_elements() const { return scale_rows() * scale_columns() + kPanelColumns; }
};

/// to[p, r, c] = element [row + r, (panel + p) * kPanelColumns + c] for `count` panels and `depth` rows;
/// columns beyond n are any numbers. Elements are rounded once, as those of DequantizeLinear.
void expand_panels(const NbitsPanels& matrix, int64_t panel, int64_t count, int64_t row, int64_t depth,
                   float* to) noexcept;

/// The same of all rows of `count` panels, rounded to bfloat16 and in pairs of rows, as PanelMatrix has them.
void expand_bfloat16_panels(const NbitsPanels& matrix, int64_t panel, int64_t count, uint16_t* to) noexcept;

}  // namespace assay::kernels
