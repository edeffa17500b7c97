// Checks early that saved inputs belong to a model.
#pragma once

#include <string>
#include <vector>

#include "assay/backend.h"

namespace assay {

/// Throws Error (kInvalidArgument) for a file whose first iteration lacks an input of the model, which a run
/// would otherwise match by a similar name or its position. Files of more than 256 MiB are left to the run.
void require_saved_inputs_fit(const std::vector<std::string>& paths, const std::vector<TensorInfo>& inputs);

}  // namespace assay
