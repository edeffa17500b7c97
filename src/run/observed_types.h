// Types and shapes as an evaluation finds them.
#pragma once

#include <memory>

#include "assay/graph.h"
#include "run/loader_cache.h"

namespace assay {

/// Evaluates the model by the reference on the first iteration of `data` and gives every value of the main
/// graph the type and the fixed shape that come out. Throws Error naming the node that cannot be evaluated;
/// the model is unchanged then.
void observe_types(const std::shared_ptr<Model>& model, LoaderCache data);

}  // namespace assay
