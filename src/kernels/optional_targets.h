// Instruction sets of this processor that not every one of its architecture has.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Highway's bits for instruction sets; one definition for each architecture that has some.
int64_t optional_targets();

}  // namespace assay::kernels
