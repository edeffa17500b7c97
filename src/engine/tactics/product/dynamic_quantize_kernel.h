// Steps of the tactic dynamic_quantize: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/int8/dynamic_quantize.h"

namespace assay::engine::tactic_dynamic_quantize {

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_dynamic_quantize
