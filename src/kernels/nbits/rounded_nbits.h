// Products with weights of a few bits in integers: the left operand is rounded to 8 bits, block by block.
#pragma once

#include <cstdint>

#include "kernels/nbits/nbits_product.h"

namespace assay::kernels {

/// Whether this processor multiplies `m` rows by such weights faster so.
bool has_rounded_nbits(int bits, int64_t m) noexcept;

/// Bytes of scratch memory; aligned as memory of steps is.
int64_t rounded_nbits_scratch(const NbitsWeights& w, int64_t m);

/// As nbits_product(), but of each block of a row, as long as one of the weights, the elements are whole
/// multiples of 1/127 of the largest magnitude. Rows are not rounded where one is not finite or has a block
/// of tiny numbers, nor where has_rounded_nbits() is false.
void rounded_nbits_product(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                           void* scratch);

}  // namespace assay::kernels
