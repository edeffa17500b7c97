// A constant matrix that is stored in panels of columns, in 32 or 16 bits.
#pragma once

#include <cstdint>

#include "assay/dtype.h"

namespace assay::kernels {

/// Columns of a panel.
inline constexpr int64_t kPanelColumns = 16;
/// Rows whose sums the registers hold divide this.
inline constexpr int64_t kPanelRows = 12;

/// Panels that are worked on together where registers are wide: blocks of columns are best so many panels
/// wide.
inline constexpr int64_t kPanelGroup = 4;

/// The right operand: k rows of n columns.
struct PanelMatrix {
  int64_t n = 0, k = 0;
  DType type = DType::kFloat32;  ///< of storage: or float16, bfloat16

  /// Those that are computed.
  int64_t filled_columns() const { return panels() * kPanelColumns; }
  int64_t panels() const { return (n + kPanelColumns - 1) / kPanelColumns; }
  int64_t panel_bytes() const {
    return type == DType::kFloat32 ? k * kPanelColumns * 4 : (k + k % 2) * kPanelColumns * 2;
  }
  /// Bytes that it takes packed.
  int64_t bytes() const { return panels() * panel_bytes(); }
};

}  // namespace assay::kernels
