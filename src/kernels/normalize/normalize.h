// Normalization of rows: layer, RMS, group and instance normalization.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct Normalization {
  int64_t rows = 0, columns = 0;
  float epsilon = 0;
  bool subtract_mean = true;  ///< false: divide by the root of the mean square
  /// How scale and shift are indexed: one per column, or one per row, repeating after `period` rows.
  enum class Per : uint8_t { kColumn, kRow } per = Per::kColumn;
  int64_t period = 1;
};

/// out = (in - mean) / sqrt(variance + epsilon) * scale + shift for each row; scale and shift may be null.
/// The variance is taken about the computed mean. `addend`, when not null, is added to `in` first; the sum
/// also goes to `sum_out` when that is not null. out may be in or addend.
void normalize_rows(const Normalization& n, const float* in, const float* addend, const float* scale,
                    const float* shift, float* out, float* sum_out) noexcept;

}  // namespace assay::kernels
