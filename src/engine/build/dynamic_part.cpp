#include "engine/build/dynamic_part.h"

#include <algorithm>
#include <unordered_set>

#include "graph/clone.h"
#include "graph/order.h"
#include "passes/origins.h"
#include "passes/region.h"

namespace assay::engine {
namespace {

/// A value without memory of a size known now, that a kernel would have to have.
bool is_open(const Value* v) {
  if (v == nullptr || v->is_constant() || !v->type.is_tensor()) return false;
  return !v->type.has_shape() || !known_shape(*v->type.dims).has_value();
}

}  // namespace

bool cut_dynamic_part(Model& model) {
  Graph& g = *model.graph;
  const std::unordered_set<const Value*> given(g.inputs.begin(), g.inputs.end());
  // Nodes that wait, and all that follow them: what stands behind a part of the network node must not stand
  // before another.
  std::unordered_set<const Value*> late;
  std::vector<Node*> waiting;
  std::unordered_set<const Node*> inside;
  for (const auto& n : g.nodes()) {
    const std::vector<Value*> used = used_values(*n);
    const bool waits = std::any_of(used.begin(), used.end(), [&](const Value* v) {
      return late.contains(v) || (is_open(v) && !given.contains(v));
    });
    if (!waits) continue;
    waiting.push_back(n.get());
    inside.insert(n.get());
    for (const Value* v : n->outputs()) late.insert(v);
  }
  // A single node is as well evaluated as it is.
  if (waiting.size() < 2) return false;
  auto body = std::make_shared<Graph>();
  ValueMap map;
  std::vector<Value*> inputs, outputs;
  std::vector<std::string> origins;
  for (Node* n : waiting)
    for (Value* v : used_values(*n)) {
      if (map.contains(v) || late.contains(v)) continue;
      Value* formal = body->add_value(body->unique_name(v->name()), v->type);
      map[v] = formal;
      if (v->is_constant()) {
        formal->set_tensor(v->tensor());
        formal->metadata = v->metadata;
        continue;
      }
      body->inputs.push_back(formal);
      inputs.push_back(v);
    }
  const std::unordered_set<const Value*> results(g.outputs.begin(), g.outputs.end());
  for (Node* n : waiting) {
    for (const std::string& name : origins_of(*n)) origins.push_back(name);
    set_origins(*clone_node(*n, *body, map), origins_of(*n));
    for (Value* v : n->outputs()) {
      if (v == nullptr) continue;
      const bool leaves =
          results.contains(v) || std::any_of(v->consumers().begin(), v->consumers().end(),
                                             [&](const Node* c) { return !inside.contains(c); });
      if (!leaves) continue;
      body->outputs.push_back(map.at(v));
      outputs.push_back(v);
    }
  }
  for (Node* n : waiting) {
    n->set_outputs({});
    n->set_inputs({});
  }
  Node* network = g.add_node(std::string(kNetwork), inputs, outputs, {{"body", body}}, waiting.front()->name);
  network->domain = std::string(kRegionDomain);
  set_origins(*network, origins);
  g.remove_nodes_if([&](const Node& n) { return inside.contains(&n); });
  return true;
}

}  // namespace assay::engine
