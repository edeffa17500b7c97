// Packing of convolutions of 8-bit integers, and writing them into steps.
#pragma once

#include "engine/tactics/product/int8_kernel.h"
#include "engine/tactics/product/tiled_product.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// The right operand of a convolution from the weights less their zero points, in the order of ONNX: packed
/// bytes, or float32 for channels on their own.
Tensor pack_int8_conv(const ConvProduct& conv, const std::vector<int16_t>& numbers);

/// The name of that packing.
std::string int8_conv_packing(const ConvProduct& conv);

/// The variant of a convolution's candidate.
std::string_view int8_conv_way(const ConvProduct& conv);

/// Of products, or of channels on their own, for the cost model: in units of a core's float32 rate.
double int8_efficiency(bool is_depthwise);

/// Writes the parameters, scratch memory and estimate of a convolution.
void write_int8_conv(const Problem& p, const ConvProduct& conv, Candidate& b);

}  // namespace assay::engine
