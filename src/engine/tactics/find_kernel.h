// Lookup of the kernels of plan steps, and their environment.
#pragma once

#include <string>
#include <string_view>

#include "engine/runtime/kernel.h"

namespace assay::engine {

/// The kernel of a tactic that has one (tactics.def); null for others, and for unknown ones.
const KernelFactory* find_kernel(std::string_view tactic);

/// Machine, libraries and version: packed weights and chosen kernels are valid only for the same ones.
std::string plan_environment();

}  // namespace assay::engine
