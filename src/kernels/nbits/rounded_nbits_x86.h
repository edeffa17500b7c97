// The product in integers with the instructions of x86-64 (native_kernels.h).
#pragma once

#include <cstdint>

#include "kernels/nbits/nbits_product.h"

namespace assay::kernels {

// False where a row cannot be rounded: then y is not written. With AVX2 weights have at most 4 bits.
bool rounded_nbits_avx512(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                          void* scratch) noexcept;
bool rounded_nbits_avx_vnni(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                            void* scratch) noexcept;
bool rounded_nbits_avx2(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                        void* scratch) noexcept;

}  // namespace assay::kernels
