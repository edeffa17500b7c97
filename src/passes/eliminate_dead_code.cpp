// Nodes that no output depends on are removed.
#include <algorithm>
#include <unordered_set>

#include "graph/order.h"
#include "passes/pass_list.h"

namespace assay::pass_eliminate_dead_code {
namespace {

bool run(Model& model) {
  Graph& g = *model.graph;
  std::unordered_set<const Value*> needed(g.outputs.begin(), g.outputs.end());
  std::unordered_set<const Node*> dead;
  for (auto it = g.nodes().rbegin(); it != g.nodes().rend(); ++it) {
    const Node& n = **it;
    const bool live = std::any_of(n.outputs().begin(), n.outputs().end(),
                                  [&](const Value* v) { return needed.contains(v); });
    if (!live) {
      dead.insert(&n);
      continue;
    }
    for (const Value* v : used_values(n)) needed.insert(v);
  }
  g.remove_nodes_if([&](const Node& n) { return dead.contains(&n); });
  return !dead.empty();
}

}  // namespace

constinit const PassDef def = {
    .name = "eliminate_dead_code",
    .summary = "nodes that no output depends on are removed",
    .conditions = "No output of the graph, and no subgraph, depends on the node.",
    .run = run,
};

}  // namespace assay::pass_eliminate_dead_code
