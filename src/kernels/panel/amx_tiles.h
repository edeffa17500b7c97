// Products of pairs by AMX, whose tiles of sixteen rows hold the panels as they are packed. On x86-64 only.
#pragma once

#include <cstdint>

#include "kernels/panel/panel_matrix.h"

namespace assay::kernels {

/// bfloat16_product() in tiles. Only where may_use_amx() of these numbers.
void multiply_bfloat16_amx(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                           const uint16_t* a, int64_t a_stride, int64_t rows, const float* bias, float* sums,
                           int64_t stride) noexcept;

}  // namespace assay::kernels
