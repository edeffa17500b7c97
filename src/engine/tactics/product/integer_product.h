// Shared parts of the tactics on ConvInteger and MatMulInteger: operands with zero points of the run or of
// the model, and the conversion of exact sums to int32, or by a Cast to float32 with an epilogue.
#pragma once

#include "engine/tactics/int8_kernels.h"
#include "engine/tactics/product/integer_product_kernel.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// Common requirements on a region whose result has `columns` channels or columns. Returns the reason of a
/// refusal, or nothing.
std::string integer_refusal(const Problem& p, int64_t columns);

/// Constant quantized values less their zero points: none, one, or one for each group of `inner` adjacent
/// values, over and over.
std::vector<int16_t> integer_numbers(const UnalignedTensor& levels, const UnalignedTensor* zero_points,
                                     int64_t inner);

/// Writes down a candidate: inputs 0 (quantized, in `layout`), 1 (the right operand, which `pack` makes of
/// its numbers), 2 (the zero point of 0; may be left out), 3 (int32, added to sums; may be left out) and the
/// epilogue's operands, and the output in `layout`. `inner`: as above.
void write_integer(const Problem& p, Layout layout, int64_t inner, const std::string& packing,
                   std::function<Tensor(const std::vector<int16_t>& numbers)> pack, Candidate& b);

}  // namespace assay::engine
