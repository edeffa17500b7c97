// Products of integers that become real numbers: shared by MatMulIntegerToFloat, DynamicQuantizeMatMul and
// QAttention.
#pragma once

#include "ops/numerics/steps.h"

namespace assay {

/// A quantized matrix B [..., K, N] with scale and zero point for the whole or per column.
struct QuantizedWeights {
  size_t levels, scale, zero;
};

/// A * B * a_scale * b_scale, where `a` holds quantized values less their zero point, as float64. The integer
/// product is exact; the scales' product and its product with that round.
Traced scaled_product(const EvalContext& c, Steps& steps, const Traced& a, double a_scale,
                      const QuantizedWeights& b);

/// a + the bias in input i, if it is given. Throws Error unless it broadcasts to a's shape.
Traced add_bias(const EvalContext& c, Steps& steps, Traced a, size_t i);

}  // namespace assay
