// Steps of the tactic indexed: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>
#include <cstring>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/index_kernel.h"
#include "kernels/copy/indexed.h"

namespace assay::engine::tactic_indexed {

using kernels::ScatterReduction;

inline constexpr std::string_view kReductions[] = {"none", "add", "mul", "min", "max"};

/// Of elements an axis, of slices a number of axes of batches; what scatters has a reduction.
struct StepFields {
  bool scatters = false;
  int64_t rank = 0;
  std::optional<int64_t> axis;
  int64_t batch_dims = 0;
  ScatterReduction reduction = ScatterReduction::kNone;

  void fields(FieldVisitor& visit) {
    visit("axis", axis, Bounds{0, std::max<int64_t>(rank, 1) - 1});
    if (!axis) visit("batch_dims", batch_dims, {0, 64});
    if (scatters) visit("reduction", reduction, kReductions, "'{}' is no reduction");
  }
};

inline bool scatters(const Node& n) { return n.op_type.starts_with("Scatter"); }

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_indexed
