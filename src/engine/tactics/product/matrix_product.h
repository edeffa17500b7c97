// The matrix product of MatMul and Gemm, with their epilogues and surrounding Transposes.
#pragma once

#include <string>
#include <vector>

#include "engine/tactics/epilogue.h"
#include "engine/tactics/product/matrix_kernel.h"

namespace assay::engine {

/// out = a * b + bias, then the epilogue. Leading dimensions of a stack are folded into rows when b is
/// packed.
struct MatrixProduct : MatrixOperands {
  const Value* left = nullptr;
  const Value* right = nullptr;
  const Value* bias = nullptr;  ///< one constant per column
  bool rearranged = false;      ///< the result is stored in another order than operands of the epilogue
  double bias_scale = 1;
  double weight_scale = 1;
  std::vector<EpilogueStep> epilogue;
};

/// Reads a region whose main node is MatMul or Gemm. Returns why no tactic can compute it, or nothing.
std::string read_product(const Problem& problem, MatrixProduct& p);

}  // namespace assay::engine
