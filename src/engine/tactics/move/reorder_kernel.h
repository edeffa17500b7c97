// Steps of the tactic reorder: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/dnnl/dnnl_kernel.h"
#include "kernels/copy/channel_blocks.h"
#include "kernels/copy/strided_copy.h"

namespace assay::engine::tactic_reorder {

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_reorder
