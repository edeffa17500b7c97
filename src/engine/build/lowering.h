// From a graph whose regions are formed to the steps of a plan.
#pragma once

#include <string>
#include <unordered_map>

#include "assay/graph.h"
#include "engine/build/memory_planner.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// Packed weights by key, shared by the plans of one model.
using ConstantCache = std::unordered_map<std::string, Tensor>;

/// Chooses a tactic for every node and makes its step. Regions that no tactic takes are dissolved in `model`,
/// whose nodes are in no order then.
/// Throws Error naming the node that nothing can run, or the planted fault that names no node.
LoweredPlan lower_graph(Model& model, const BuildConfig& config, ConstantCache& cache);

}  // namespace assay::engine
