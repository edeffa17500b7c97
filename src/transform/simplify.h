// Simplifies a model without changing its results.
#pragma once

#include <vector>

#include "assay/fold.h"
#include "passes/edit_hook.h"
#include "passes/pass_manager.h"

namespace assay {

struct SimplifyOptions {
  FoldOptions fold;
  /// Infer shapes between rounds, on which most simplifications depend. Declared types of intermediate values
  /// are then ignored.
  bool infer = true;
  /// The passes; null: the built-in ones.
  std::shared_ptr<const PassSet> set;
  /// Called before each edit of a pass.
  AllowsEdit allows_edit;
};

/// The edits, over all rounds.
struct SimplifyReport {
  std::vector<PassReport> passes;  ///< those that made edits, in the order of their first one
  int64_t folded_nodes = 0, flattened_ifs = 0, elided_casts = 0;
};

/// Runs PassStage::kSimplify and constant folding over the main graph, the bodies of control flow and the
/// local functions without attribute parameters, until nothing changes. Results are the same up to rounding;
/// open extents are assumed to be at least 1. Inputs and outputs keep names and types; initializers that a
/// caller may replace (listed among the inputs, from IR version 4 on) are unchanged. Nodes end in
/// topological order.
SimplifyReport simplify(Model& model, const SimplifyOptions& options = {});

}  // namespace assay
