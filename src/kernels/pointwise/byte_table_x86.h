// look_up() by AVX-512 VBMI.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// `table` has 256 entries.
void look_up_vbmi(const uint8_t* table, const uint8_t* x, int64_t count, uint8_t* y) noexcept;

}  // namespace assay::kernels
