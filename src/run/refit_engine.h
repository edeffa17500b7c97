// Refits an engine with the weights of the ONNX model that it was built from.
#pragma once

#include <memory>
#include <string>

#include "assay/graph.h"
#include "assay/runtime.h"

namespace assay {

/// The numbers of weights taken from the model, and
/// of those kept because the model lacks their names.
struct RefitReport {
  size_t given = 0, kept = 0;
};

/// Sets the weights of a refittable engine from `model`, by name. `path` is the model's, for messages. Throws
/// Error (kInvalidArgument) for an engine that is not refittable, a model without any of the engine's weights
/// or without one whose data the engine lacks, and for weights of another type or shape.
RefitReport refit_engine(const std::shared_ptr<Engine>& engine, const Model& model, const std::string& path);

}  // namespace assay
