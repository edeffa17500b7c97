// Operands that a pointwise program reads and writes, and their layout in memory.
#pragma once

#include <vector>

#include "assay/dtype.h"

namespace assay::kernels {

/// Of what type an operand is in memory, and how it covers the domain: strides in elements, one per
/// dimension, 0 where it repeats.
struct PointwiseOperand {
  DType type = DType::kFloat32;
  std::vector<int64_t> strides;
};

}  // namespace assay::kernels
