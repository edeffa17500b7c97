// Checks that saved results belong to a model and a run.
#pragma once

#include <span>
#include <string>

#include "assay/graph.h"
#include "run/results.h"

namespace assay {

/// A sentence why an iteration's results do not belong to the model: they contain unknown values, or lack one
/// of these outputs, which would pass unjudged. Empty if they do.
std::string misfit(const std::string& runner, const IterationResult& result, int64_t iteration,
                   const Model& model, std::span<const std::string> outputs);

}  // namespace assay
