// The operands of a product of matrices, as a step holds them.
#pragma once

#include <vector>

#include "engine/plan/plan.h"

namespace assay::engine {

/// A matrix, or a stack of them, as oneDNN sees it: extents and strides in elements.
struct Matrix {
  Shape shape;
  std::vector<int64_t> strides;
};

inline Matrix dense(const Shape& shape) { return {shape, shape.strides()}; }
inline bool is_dense(const Matrix& m) { return m.strides == m.shape.strides(); }

/// out = a * b + bias.
struct MatrixOperands {
  Matrix a, b, out;
  bool packed = false;  ///< b is a constant matrix, so a tactic may pack it
  bool has_bias = false;
};

}  // namespace assay::engine
