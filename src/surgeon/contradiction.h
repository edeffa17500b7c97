// Detects shapes and types given by a user that are impossible for a graph.
#pragma once

#include <string>

#include "assay/graph.h"

namespace assay {

/// Throws Error (kInvalidArgument) when inference proves that a change is impossible: `after`, the model with
/// it, violates a rule of an operator, or an output would differ from its declared type, and `before`, the
/// model without it, does not. `given` describes the change in the message, as in `the
/// shapes that --override-input-shapes gives`. Neither model changes.
void require_possible(const Model& before, const Model& after, const std::string& given);

}  // namespace assay
