// Runs a pointwise program on one tile; compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/pointwise/program.h"

namespace assay::kernels {

/// Executes the instructions on `count` elements. registers[r] points to at least `count` elements of the
/// register's type; an instruction's result may be one of its operands where elements are of one size, and
/// registers otherwise do not overlap.
void interpret_tile(std::span<const PointwiseInstruction> code, void* const* registers, size_t count);

}  // namespace assay::kernels
