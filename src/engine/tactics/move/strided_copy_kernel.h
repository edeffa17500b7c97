// Steps of the tactic strided_copy: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/copy/strided_copy.h"

namespace assay::engine::tactic_strided_copy {

/// The walks of all outputs over the input, concatenated.
struct StepFields {
  size_t outputs = 0, axes = 0;  ///< `axes`: of all outputs together
  std::vector<int64_t> strides, offsets;

  void fields(FieldVisitor& visit) {
    visit("strides", strides, axes);
    visit("offsets", offsets, outputs);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_strided_copy
