// What of a model's inputs and outputs takes part in generating tokens, found by names and shapes.
#pragma once

#include <vector>

#include "assay/backend.h"
#include "assay/generate.h"

namespace assay::generate {

/// Throws Error (kInvalidArgument) that says what was looked for and what is missing or left over.
Interface find_interface(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs,
                         const InterfaceNames& names = {});

}  // namespace assay::generate
