// Products of 8-bit integers by AMX, whose tiles of sixteen rows hold the panels as they are packed. On
// x86-64 only.
#pragma once

#include <cstdint>

#include "kernels/int8/int8_operands.h"
#include "kernels/int8/requantize.h"

namespace assay::kernels {

/// Bitwise equal to int8_product(), where may_use_amx() of these numbers and there is AVX-512 VNNI.
void amx_int8_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                      const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride) noexcept;

/// Bitwise equal to int8_product_quantized(), there.
void amx_int8_product_quantized(const Int8Weights& weights, const void* packed, int64_t panel,
                                int64_t columns, const Int8Rows& a, int64_t rows, int32_t* sums,
                                int64_t stride, const QuantizedEpilogue& end) noexcept;

}  // namespace assay::kernels
