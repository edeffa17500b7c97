// Squares of a matrix with rows and columns exchanged, in registers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// to[c * to_step + r] = from[r * from_step + c] for r < rows and c < columns, elements of 1, 2, 4 or 8
/// bytes. Steps are in elements.
void transpose_block(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t rows,
                     int64_t columns, size_t element_bytes) noexcept;

}  // namespace assay::kernels
