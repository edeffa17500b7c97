// Shapes and types that a user gives and that a graph cannot have.
#pragma once

#include <string>

#include "assay/graph.h"

namespace assay {

/// Throws Error (kInvalidArgument) when inference proves that what was given is impossible: `after`, the
/// model with it, breaks a rule of an operator, or an output would be of another type than it is declared
/// with, and `before`, the model without it, does not. `given` says in the message what was given, as in `the
/// shapes that --override-input-shapes gives`. Neither model changes.
void require_possible(const Model& before, const Model& after, const std::string& given);

}  // namespace assay
