// Layouts of images for the kernels of this architecture's processors.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/plan.h"

namespace assay::engine {

/// See Target::layouts(). One definition for each architecture.
std::vector<Layout> cpu_layouts();

/// On x86-64: channels in a block of the layout that oneDNN's convolutions for these instruction sets (a
/// dnnl::cpu_isa) work on.
int32_t channel_block(int instruction_set);

}  // namespace assay::engine
