// Do saved results belong to a model and a run?
#pragma once

#include <span>
#include <string>

#include "assay/graph.h"
#include "run/results.h"

namespace assay {

/// Throws Error (kInvalidArgument) unless an iteration's results hold all these outputs and nothing but
/// values of the model: whatever is missing would pass unjudged.
void check_result(const std::string& runner, const IterationResult& result, int64_t iteration,
                  const Model& model, std::span<const std::string> outputs);

}  // namespace assay
