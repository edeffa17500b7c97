// Do saved results belong to a model and a run?
#pragma once

#include <span>
#include <string>

#include "assay/graph.h"
#include "run/results.h"

namespace assay {

/// Why an iteration's results are not those of the model, as a sentence: they hold something else than its
/// values, or lack one of these outputs, which would pass unjudged. Empty where they are.
std::string misfit(const std::string& runner, const IterationResult& result, int64_t iteration,
                   const Model& model, std::span<const std::string> outputs);

}  // namespace assay
