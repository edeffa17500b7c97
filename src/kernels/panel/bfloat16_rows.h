// Rows of float32 numbers rounded to bfloat16, for products of these.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// to[i] = from[i], rounded to the nearest, halves to even; NaN stays NaN. Subnormal numbers may become 0, as
/// which bfloat16_product() counts them.
void round_to_bfloat16(const float* from, uint16_t* to, size_t count) noexcept;

}  // namespace assay::kernels
