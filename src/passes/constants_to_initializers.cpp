// Constant nodes become initializers. An initializer that could be overridden by a graph input of its name no
// longer can: sessions feed the graph's inputs only.
#include <unordered_set>

#include "analysis/match.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"

namespace assay::pass_constants_to_initializers {
namespace {

bool run(Model& model) {
  Graph& g = *model.graph;
  bool changed = false;
  for (const auto& v : g.values()) v->is_overridable = false;
  std::vector<std::pair<Value*, Tensor>> found;
  for (const auto& n : g.nodes()) {
    if (!is_op(*n, "Constant") || n->output(0) == nullptr) continue;
    const BoundOp op = bind_op(*n, model);
    if (!op) continue;
    found.emplace_back(n->output(0), evaluate_node(*n, op, {})[0]);
    changed = true;
  }
  std::unordered_set<const Node*> replaced;
  for (const auto& [v, tensor] : found) replaced.insert(v->producer());
  g.remove_nodes_if([&](const Node& n) { return replaced.contains(&n); });
  for (auto& [v, tensor] : found) v->set_tensor(std::move(tensor));
  return changed;
}

}  // namespace

constinit const PassDef def = {
    .name = "constants_to_initializers",
    .summary = "Constant nodes become initializers",
    .conditions = "Always, for a Constant of known form.",
    .run = run,
};

}  // namespace assay::pass_constants_to_initializers
