#include <algorithm>
#include <unordered_map>

#include "assay/edit.h"
#include "graph/local_function.h"
#include "graph/order.h"

namespace assay {

void toposort(Graph& graph, bool recurse_subgraphs) {
  if (recurse_subgraphs)
    for (Graph* g : subgraphs(graph)) toposort(*g, true);
  std::vector<Node*> order = depth_first_order(graph);
  std::unordered_map<const Node*, int64_t> levels;
  for (const Node* n : order) {
    int64_t level = 0;
    for (const Value* v : used_values(*n))
      if (v->producer() != nullptr) level = std::max(level, levels[v->producer()] + 1);
    levels[n] = level;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](const Node* a, const Node* b) { return levels[a] < levels[b]; });
  graph.reorder_nodes(order);
}

void toposort(Model& model, const SortOptions& options) {
  check_depth(model);
  if (options.mode != SortMode::kFunctions) {
    toposort(*model.graph, options.recurse_subgraphs);
    if (options.recurse_functions)
      for (Function& f : model.functions) toposort(*f.body, options.recurse_subgraphs);
  }
  if (options.mode != SortMode::kNodes) sort_functions(model);
}

}  // namespace assay
