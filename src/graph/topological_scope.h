// A model whose nodes are in order for a while.
#pragma once

#include <utility>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// While it lives, the nodes of a model's graphs (main graph, function bodies, subgraphs) are in topological
/// order; then they are again as they were. No node may come or go in between. Throws as
/// sort_topologically().
class TopologicalScope {
 public:
  explicit TopologicalScope(Model& model);
  ~TopologicalScope();
  TopologicalScope(const TopologicalScope&) = delete;
  TopologicalScope& operator=(const TopologicalScope&) = delete;

 private:
  std::vector<std::pair<Graph*, std::vector<Node*>>> original_;  // of graphs that had another order
};

}  // namespace assay
