// Steps of the tactic dequantize: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/convert/dequantize.h"

namespace assay::engine::tactic_dequantize {

struct StepFields {
  kernels::QuantizedBlocks q;

  void fields(FieldVisitor& visit) {
    visit("outer", q.outer);
    visit("extent", q.extent);
    visit("inner", q.inner);
    visit("block", q.block, kPositive);
    visit("grid", q.grid, kernels::ScaleGrid::kBlocks);
  }
};

/// Whether a table has a type's numbers.
inline bool has_table(DType type) {
  const int bits = bit_width(type);
  return (is_integer(type) || is_float(type)) && bits >= 2 && bits <= 8;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_dequantize
