// Shared parts of the tactics on 8-bit integers: reading quantized operands, and the conversion of exact sums
// to the result. The left operand is the output of a DequantizeLinear, whose input is read instead; the
// weights are a constant, dequantized by another one.
#pragma once

#include "engine/tactics/int8_kernels.h"
#include "engine/tactics/product/int8_product_kernel.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// The operands of a product, as they are stored.
struct Int8Operands {
  Quantization x;
  const QuantizedConstant* weights = nullptr;
};

/// `channel_axis`: of the weights, along which they may have separate scales. Returns the reason of a
/// refusal, or nothing.
std::string read_int8(const Problem& p, const Value* x, const Value* weights, size_t channel_axis,
                      Int8Operands& operands);

/// Less their zero points, in their own order. The scale's axis is `axis` where there are several.
std::vector<int16_t> int8_numbers(const QuantizedConstant& weights);

/// Writes a candidate: inputs 0 (`x` in `layout`), 1 (the packed weights), 2 (factors of the sums), 3 (bias;
/// may be null) and the epilogue's operands, and the output in `layout`.
void write_int8(const Problem& p, const Int8Operands& operands, const Value* x, const Value* weights,
                const Value* bias, double bias_scale, const std::vector<EpilogueStep>& epilogue,
                int64_t columns, Layout layout, const std::string& packing, std::function<Tensor()> pack,
                Candidate& b);

}  // namespace assay::engine
