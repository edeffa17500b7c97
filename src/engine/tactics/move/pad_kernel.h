// Steps of the tactic pad: their parameters, and the kernel that runs them.
#pragma once

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cstring>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/copy/pad.h"

namespace assay::engine::tactic_pad {

struct StepFields {
  size_t rank = 0;
  kernels::PadMode mode = kernels::PadMode::kConstant;
  std::vector<int64_t> pads;  ///< before each axis, then behind each
  double value = 0;

  void fields(FieldVisitor& visit) {
    visit("mode", mode, kernels::kPadModes, "the mode '{}' is unknown");
    visit("pads", pads, 2 * rank, {-kMaxOfWindow, kMaxOfWindow});
    visit("value", value);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_pad
