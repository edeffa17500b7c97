#include "reference/fragment.h"

#include "graph/clone.h"
#include "graph/order.h"

namespace assay {
Fragment make_fragment(const Node& node, const Model& model) {
  const auto copy = std::make_shared<Model>(scope_of(model, model.opsets));
  Graph& g = *copy->graph;
  Fragment fragment;
  ValueMap map;
  for (const Value* v : used_values(node)) {
    if (v->is_constant()) {
      map[v] = clone_value(*v, g);
    } else {
      map[v] = g.add_input(v->name(), v->type);
      fragment.arguments.push_back(v);
    }
  }
  clone_node(node, g, map);
  for (const Value* v : node.outputs())
    if (v != nullptr) g.outputs.push_back(map.at(v));
  fragment.model = copy;
  return fragment;
}

Fragment make_body(const Graph& body, const Model& model) {
  const auto copy = std::make_shared<Model>(scope_of(model, model.opsets));
  Graph& g = *copy->graph;
  Fragment fragment;
  ValueMap map;
  for (const Value* v : body.inputs) map[v] = g.add_input(g.unique_name(v->name()), v->type);
  for (const Value* v : captured_values(body)) {
    if (v->is_constant()) {
      map[v] = clone_value(*v, g, g.unique_name(v->name()));
      continue;
    }
    map[v] = g.add_input(g.unique_name(v->name()), v->type);
    fragment.arguments.push_back(v);
  }
  for (const auto& n : body.nodes()) clone_node(*n, g, map);
  for (const Value* v : body.outputs) {
    if (!map.contains(v)) map[v] = clone_value(*v, g, g.unique_name(v->name()));
    g.outputs.push_back(map.at(v));
  }
  fragment.model = copy;
  return fragment;
}

}  // namespace assay
