#include "passes/flatten_if.h"

#include <algorithm>

#include "assay/edit.h"
#include "graph/clone.h"
#include "passes/match.h"

namespace assay {
namespace {

/// Everything that nodes of a branch take from outside of it stands for itself.
void keep_captures(const Graph& g, const Graph& branch, ValueMap& map) {
  const auto is_inside = [&](const Value* v) {
    for (const Graph* at = &v->graph(); at != nullptr; at = at->parent())
      if (at == &branch) return true;
    return false;
  };
  const auto keep = [&](Value* v) {
    if (v != nullptr && !is_inside(v)) map[v] = v;
  };
  for (const auto& n : g.nodes())
    for (Value* v : n->inputs()) keep(v);
  for (Value* v : g.outputs) keep(v);
  for (const Graph* sub : subgraphs(g)) keep_captures(*sub, branch, map);
}

void splice(Node& node, const Graph& branch, const std::string& suffix) {
  Graph& g = node.graph();
  const std::vector<Value*> outputs = node.outputs();
  node.set_outputs({});
  ValueMap map;
  keep_captures(branch, branch, map);
  // A result that the branch computes is computed into the If's output.
  for (size_t i = 0; i < outputs.size() && i < branch.outputs.size(); ++i) {
    const Value* v = branch.outputs[i];
    if (outputs[i] != nullptr && v->producer() != nullptr && &v->graph() == &branch && !map.contains(v))
      map[v] = outputs[i];
  }
  for (const auto& v : branch.values()) {
    if (map.contains(v.get())) continue;
    Value* copy = g.add_value(g.unique_name(v->name() + suffix), v->type);
    if (v->tensor().defined()) copy->set_tensor(v->tensor());
    map[v.get()] = copy;
  }
  std::vector<Node*> order, added;
  for (const auto& n : g.nodes()) order.push_back(n.get());
  for (const auto& n : branch.nodes()) {
    Node* copy = clone_node(*n, g, map);
    if (!copy->name.empty()) copy->name += suffix;
    added.push_back(copy);
  }
  for (size_t i = 0; i < outputs.size() && i < branch.outputs.size(); ++i)
    if (outputs[i] != nullptr && outputs[i]->producer() == nullptr)
      added.push_back(
          g.add_node("Identity", {map.at(branch.outputs[i])}, {outputs[i]}, {}, node.name + suffix));
  order.insert(std::find(order.begin(), order.end(), &node), added.begin(), added.end());
  g.reorder_nodes(order);
}

/// The branch that runs; null when the condition is not known.
const std::shared_ptr<Graph>* chosen_branch(const Node& n) {
  if (!is_op(n, "If") || n.outputs().empty()) return nullptr;
  const Value* condition = n.input(0);
  if (condition == nullptr || !condition->tensor().defined() || condition->is_overridable) return nullptr;
  const Tensor& t = condition->tensor();
  if (t.dtype() != DType::kBool || t.numel() != 1) return nullptr;
  const Attribute* a = n.find_attribute(t.data<bool>()[0] ? "then_branch" : "else_branch");
  return a != nullptr ? a->get_if<std::shared_ptr<Graph>>() : nullptr;
}

}  // namespace

int64_t flatten_constant_ifs(Graph& graph) {
  int64_t flattened = 0;
  std::vector<Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::shared_ptr<Graph>* found = chosen_branch(*nodes[i]);
    if (found == nullptr) continue;
    const std::shared_ptr<Graph> branch = *found;
    splice(*nodes[i], *branch, fmt::format("_subg_{}_{}", i, branch->name));
    graph.remove_node(nodes[i]);
    ++flattened;
  }
  return flattened;
}

}  // namespace assay
