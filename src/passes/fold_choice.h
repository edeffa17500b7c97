// Chooses which computed results replace nodes.
#pragma once

#include <unordered_map>
#include <vector>

#include "assay/fold.h"

namespace assay {

/// A node whose results are computed, in the order of the outputs; undefined for omitted outputs.
struct ComputedNode {
  Node* node;
  std::vector<Tensor> results;
};

/// Of nodes in topological order, those whose results become constants. Excluded are sequences and maps;
/// results above options.size_threshold, or, without one, those that make the model larger by more than
/// kMaxGrowth. A result that is too large and used by nodes that are not folded goes to report.too_large;
/// unused ones are left to cleanup().
std::vector<ComputedNode> choose_results(const Graph& graph, std::vector<ComputedNode> computed,
                                         const FoldOptions& options, FoldReport& report);

}  // namespace assay
