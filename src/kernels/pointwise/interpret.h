// Runs a pointwise program on one tile; compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/pointwise/program.h"

namespace assay::kernels {

/// Executes the instructions on `count` elements. registers[r] points to at least `count` floats; an
/// instruction's result may be one of its operands, and registers otherwise do not overlap.
void interpret_tile(std::span<const PointwiseInstruction> code, float* const* registers, size_t count);

}  // namespace assay::kernels
