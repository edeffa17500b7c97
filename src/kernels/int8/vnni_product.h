// Products of four 8-bit integers at a time by AVX-512 VNNI, which Highway 1.0 has no operation for. On
// x86-64 only.
#pragma once

#include <cstdint>

#include "kernels/int8/int8_operands.h"
#include "kernels/int8/requantize.h"

namespace assay::kernels {

/// Bitwise equal to int8_product(), on a processor that has these instructions (native_kernels.h).
void vnni_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                  const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride) noexcept;

/// Bitwise equal to int8_product_quantized(), on such a processor.
void vnni_product_quantized(const Int8Weights& weights, const void* packed, int64_t panel, int64_t columns,
                            const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride,
                            const QuantizedEpilogue& end) noexcept;

}  // namespace assay::kernels
