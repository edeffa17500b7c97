// Types, shapes and values observed in an evaluation.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "assay/graph.h"
#include "run/loader_cache.h"

namespace assay {

/// Evaluates the model by the reference (stored types) on the first iteration of `data`, and calls `observer`
/// with each value of the main graph that a node computes or that is an input, while it exists. Throws Error
/// naming the node that cannot be evaluated.
void observe_values(const std::shared_ptr<Model>& model, LoaderCache data,
                    const std::function<void(const std::string& name, const Tensor& value)>& observer);

/// Sets the type and the fixed shape of every value of the main graph, as observed in such an evaluation; if
/// it throws, the model is unchanged.
void observe_types(const std::shared_ptr<Model>& model, LoaderCache data);

}  // namespace assay
