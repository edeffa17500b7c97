// Which computed results a model takes up.
#pragma once

#include <unordered_map>
#include <vector>

#include "assay/fold.h"

namespace assay {

/// A node whose results are computed, in the order of the outputs; undefined where an output is left out.
struct ComputedNode {
  Node* node;
  std::vector<Tensor> results;
};

/// Of nodes in topological order, those whose results become constants. The others stay: sequences and maps;
/// results above options.size_threshold, or, without one, those that make the model larger by more than
/// kMaxGrowth. One that is too large and needed by others than folded nodes goes to report.too_large; what
/// nobody needs is left to cleanup().
std::vector<ComputedNode> choose_results(const Graph& graph, std::vector<ComputedNode> computed,
                                         const FoldOptions& options, FoldReport& report);

}  // namespace assay
