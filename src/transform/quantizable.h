// The operators whose weights are quantized.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Conv, Gemm, MatMul: what quantize() looks at.
bool is_quantizable(const Node& n);

}  // namespace assay
