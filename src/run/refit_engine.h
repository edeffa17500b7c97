// Weights of an engine from the ONNX model that it was built from.
#pragma once

#include <memory>
#include <string>

#include "assay/graph.h"
#include "assay/runtime.h"

namespace assay {

/// How many weights of an engine came from the model, and how many it keeps because the model has none of
/// their names.
struct RefitReport {
  size_t given = 0, kept = 0;
};

/// Gives a refittable engine the weights of `model`, by name. `path` is the model's, for messages. Throws
/// Error (kInvalidArgument) for an engine that was not built for it, a model of which no weight is the
/// engine's or that lacks one that the engine has no data of, and for weights of another type or shape.
RefitReport refit_engine(const std::shared_ptr<Engine>& engine, const Model& model, const std::string& path);

}  // namespace assay
