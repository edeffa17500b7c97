// Models changed in one place that knows what a model is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/random_case.h"

namespace assay::fuzz {

/// A model of one random node, right or wrong; its inputs are initializers or inputs of the model.
std::shared_ptr<Model> random_model(Random& random);

/// Changes one thing: what mutate() changes (attributes, constants, arity), or an operator, a type, a shape,
/// a name, the outputs, the imports; adds a node on values that are there; puts a node into the branches of
/// an If, the body of a Loop or a local function; doubles a node many times in a row or in parallel.
void mutate_model(std::shared_ptr<Model>& model, Random& random);

/// True when a Loop or Scan is in it, functions included.
bool has_loop(Model& model);

}  // namespace assay::fuzz
