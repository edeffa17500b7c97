// Steps of the tactic softmax: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/dnnl/dnnl_epilogue_kernel.h"
#include "kernels/softmax/softmax.h"

namespace assay::engine::tactic_softmax {

/// How a mask covers [batch, heads, queries, keys].
struct MaskFields {
  std::array<int64_t, 4> strides = {};
  int64_t heads = 1, queries = 1;

  void fields(FieldVisitor& visit) {
    visit("mask_strides", strides, {0});
    visit("heads", heads, kPositive);
    visit("queries", queries, kPositive);
  }
};

struct StepFields {
  int64_t outer = 1, count = 1, inner = 1;
  bool logarithm = false;
  float scale = 1;
  std::optional<MaskFields> mask;  ///< where the step has a second input

  void fields(FieldVisitor& visit) {
    visit("outer", outer, kPositive);
    visit("count", count, kPositive);
    visit("inner", inner, kPositive);
    visit("logarithm", logarithm);
    visit("scale", scale);
    if (mask) mask->fields(visit);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_softmax
