// The kernels that steps of plans may ask for, and what they depend on besides the plan.
#pragma once

#include <string>
#include <string_view>

#include "engine/runtime/kernel.h"

namespace assay::engine {

/// Of a tactic that has a kernel of its own (tactics.def); null for others, and for unknown ones.
const KernelFactory* find_kernel(std::string_view tactic);

/// Machine, libraries and version: packed weights and chosen kernels are good for the same one only.
std::string plan_environment();

}  // namespace assay::engine
