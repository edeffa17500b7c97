// Products of pairs by AVX-512 BF16, which Highway 1.0 has no target for. On x86-64 only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/panel/panel_matrix.h"

namespace assay::kernels {

/// round_to_bfloat16() on a processor that has these instructions: subnormal numbers become 0.
void round_bfloat16_rows(const float* from, uint16_t* to, size_t count) noexcept;

/// bfloat16_product() on a processor that has these instructions.
void multiply_bfloat16_tiles(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                             const uint16_t* a, int64_t a_stride, int64_t rows, const float* bias,
                             float* sums, int64_t stride) noexcept;

}  // namespace assay::kernels
