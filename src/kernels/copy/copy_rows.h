// Rows of numbers from one matrix into another, where rows are too short for a call of memcpy each.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Copies `rows` rows of `columns` float32 numbers that are this far apart, bit by bit.
void copy_rows(int64_t rows, int64_t columns, const float* in, int64_t in_stride, float* out,
               int64_t out_stride) noexcept;

}  // namespace assay::kernels
