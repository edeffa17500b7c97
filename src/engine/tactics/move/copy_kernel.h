// Steps of the tactic copy: their parameters, and the kernel that runs them.
#pragma once

#include <cstring>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_copy {

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_copy
