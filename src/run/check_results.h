// Do saved results belong to a model and a run?
#pragma once

#include <span>
#include <string>

#include "assay/graph.h"
#include "run/results.h"

namespace assay {

/// Throws Error (kInvalidArgument) unless the results hold all these outputs, nothing but values of the
/// model, and as many iterations as there are sets of inputs: whatever is missing would pass unjudged.
void check_results(const std::string& runner, const std::vector<IterationResult>& iterations,
                   const Model& model, std::span<const std::string> outputs, size_t inputs);

}  // namespace assay
