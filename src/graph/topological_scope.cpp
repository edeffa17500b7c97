#include "graph/topological_scope.h"

#include "assay/edit.h"
#include "graph/order.h"

namespace assay {
namespace {

bool is_order_of(const Graph& graph, const std::vector<Node*>& order) {
  for (size_t i = 0; i < order.size(); ++i)
    if (graph.nodes()[i].get() != order[i]) return false;
  return true;
}

}  // namespace

TopologicalScope::TopologicalScope(Model& model) {
  std::vector<Graph*> graphs = {model.graph.get()};
  for (const Function& f : model.functions) graphs.push_back(f.body.get());
  for (size_t i = 0; i < graphs.size(); ++i) {
    Graph* g = graphs[i];
    for (Graph* sub : subgraphs(*g)) graphs.push_back(sub);
    const std::vector<Node*> order = depth_first_order(*g);
    if (is_order_of(*g, order)) continue;
    std::vector<Node*> before;
    for (const auto& n : g->nodes()) before.push_back(n.get());
    g->reorder_nodes(order);
    original_.emplace_back(g, std::move(before));
  }
}

TopologicalScope::~TopologicalScope() {
  for (const auto& [graph, order] : original_) graph->reorder_nodes(order);
}

}  // namespace assay
