// Whether inputs that were saved are those of a model, before anything is made of it.
#pragma once

#include <string>
#include <vector>

#include "assay/backend.h"

namespace assay {

/// Throws Error (kInvalidArgument) for a file whose first iteration lacks an input of the model, which a run
/// would otherwise take by a similar name or by its place. Files of more than 256 MiB are left to the run.
void require_saved_inputs_fit(const std::vector<std::string>& paths, const std::vector<TensorInfo>& inputs);

}  // namespace assay
