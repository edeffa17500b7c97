// Number of nodes.
#pragma once

#include <cstdint>

#include "assay/edit.h"
#include "assay/graph.h"

namespace assay {

/// Nodes of the graph and of the graphs inside it.
inline int64_t count_nodes(const Graph& graph) {
  auto n = static_cast<int64_t>(graph.nodes().size());
  for (const Graph* sub : subgraphs(graph, /*recursive=*/true))
    n += static_cast<int64_t>(sub->nodes().size());
  return n;
}

/// Those of the main graph and of the local functions.
inline int64_t count_nodes(const Model& model) {
  int64_t n = count_nodes(*model.graph);
  for (const Function& f : model.functions) n += count_nodes(*f.body);
  return n;
}

}  // namespace assay
