// The upper or lower triangle of matrices of any elements: Trilu.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// out [matrices, rows, columns] = in, zero but in the upper triangle right of diagonal k (or the lower one
/// left of it); the diagonal itself is kept.
void copy_triangle(const void* in, void* out, int64_t matrices, int64_t rows, int64_t columns, int64_t k,
                   bool upper, size_t element_bytes) noexcept;

}  // namespace assay::kernels
