// Which nodes of two graphs on one page belong together.
#pragma once

#include "assay/graph.h"
#include "assay/runtime.h"
#include "view/report.h"

namespace assay {

/// The pairs that diff_models() finds, by the page's ids, with what differs between the two: operator,
/// attributes, constants. Nodes in bodies are paired where their owners are. Reads the constants of paired
/// nodes.
ReportMatching match_models(const Model& a, const Model& b);

/// The nodes of the model that a plan was built from, and the layers of its first plan that implement them.
ReportMatching match_plan(const Engine& engine);

}  // namespace assay
