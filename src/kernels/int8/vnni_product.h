// Products of four 8-bit integers at a time by AVX-512 VNNI, which Highway 1.0 has no operation for.
#pragma once

#include "kernels/int8/int8_product.h"

namespace assay::kernels {

/// Whether this processor has the instruction, and may use it (ASSAY_SIMD).
bool has_vnni() noexcept;

/// As int8_product(), to the bit. Only where has_vnni().
void vnni_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                  const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride) noexcept;

/// As int8_product_quantized(), to the bit. Only where has_vnni().
void vnni_product_quantized(const Int8Weights& weights, const void* packed, int64_t panel, int64_t columns,
                            const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride,
                            const QuantizedEpilogue& end) noexcept;

}  // namespace assay::kernels
