#include "graph/clone.h"

#include "graph/order.h"

namespace assay {
namespace {

void clone_into(const Graph& from, Graph& to, ValueMap& map);

/// Includes outer values, which belong to the parent.
std::shared_ptr<Graph> clone_with_captured(const Graph& g, Graph& parent, ValueMap& map) {
  for (const Value* v : captured_values(g))
    if (!map.contains(v)) map[v] = clone_value(*v, parent);
  return clone_graph(g, &parent, map);
}

Attribute clone_attribute(const Attribute& a, Graph& parent, ValueMap& map) {
  Attribute copy = a;
  if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) copy.data = clone_with_captured(**g, parent, map);
  if (const auto* list = a.get_if<Attribute::Graphs>()) {
    Attribute::Graphs graphs;
    for (const auto& g : *list) graphs.push_back(clone_with_captured(*g, parent, map));
    copy.data = std::move(graphs);
  }
  return copy;
}

void clone_into(const Graph& from, Graph& to, ValueMap& map) {
  to.name = from.name;
  to.doc_string = from.doc_string;
  to.metadata = from.metadata;
  to.quantization_annotations = from.quantization_annotations;
  to.extra_fields = from.extra_fields;
  to.name_index = from.name_index;
  map.reserve(map.size() + from.values().size());
  for (const auto& v : from.values()) map[v.get()] = clone_value(*v, to);
  for (const auto& n : from.nodes()) clone_node(*n, to, map);
  for (const Value* v : from.inputs) to.inputs.push_back(map.at(v));
  // An output of a subgraph may be a value of an enclosing graph.
  for (const Value* v : from.outputs) to.outputs.push_back(map.at(v));
  for (const Value* v : from.input_order) to.input_order.push_back(map.at(v));
  for (const Value* v : from.value_info_order) to.value_info_order.push_back(map.at(v));
}

}  // namespace

Value* clone_value(const Value& v, Graph& into) { return clone_value(v, into, v.name()); }

Value* clone_value(const Value& v, Graph& into, std::string name) {
  Value* copy = into.add_value(std::move(name), v.type);
  if (v.tensor().defined())
    copy->set_tensor(v.tensor());
  else if (v.is_constant())
    copy->set_missing();
  copy->type = v.type;
  copy->doc_string = v.doc_string;
  copy->metadata = v.metadata;
  copy->extra_fields = v.extra_fields;
  copy->is_overridable = v.is_overridable;
  copy->set_tensor_source(v.shared_tensor_source());
  return copy;
}

Node* clone_node(const Node& n, Graph& into, ValueMap& map) {
  const auto mapped = [&](const std::vector<Value*>& values) {
    std::vector<Value*> list;
    for (const Value* v : values) {
      if (v != nullptr && !map.contains(v)) map[v] = clone_value(*v, into);
      list.push_back(v == nullptr ? nullptr : map[v]);
    }
    return list;
  };
  Node* copy = into.add_node(n.op_type, mapped(n.inputs()), mapped(n.outputs()), {}, n.name, n.domain);
  copy->overload = n.overload;
  copy->doc_string = n.doc_string;
  copy->metadata = n.metadata;
  copy->extra_fields = n.extra_fields;
  for (const Attribute& a : n.attributes) copy->attributes.push_back(clone_attribute(a, into, map));
  return copy;
}

std::shared_ptr<Graph> clone_graph(const Graph& g, Graph* parent, ValueMap& map) {
  auto copy = std::make_shared<Graph>();
  copy->set_parent(parent);
  clone_into(g, *copy, map);
  return copy;
}

Function clone_function(const Function& f) {
  Function g;
  g.domain = f.domain;
  g.name = f.name;
  g.overload = f.overload;
  g.doc_string = f.doc_string;
  g.attribute_names = f.attribute_names;
  for (const Attribute& a : f.attribute_defaults) {
    ValueMap none;
    g.attribute_defaults.push_back(clone_attribute(a, *g.body, none));
  }
  g.opsets = f.opsets;
  g.metadata = f.metadata;
  g.extra_fields = f.extra_fields;
  ValueMap map;
  clone_into(*f.body, *g.body, map);
  return g;
}

void clone_header(const Model& from, Model& to) {
  to.opsets = from.opsets;
  to.ir_version = from.ir_version;
  to.model_version = from.model_version;
  to.producer_name = from.producer_name;
  to.producer_version = from.producer_version;
  to.domain = from.domain;
  to.doc_string = from.doc_string;
  to.metadata = from.metadata;
  to.extra_fields = from.extra_fields;
  to.path = from.path;
  to.external_data_folder = from.external_data_folder;
  to.ops = from.ops;
}

Model scope_of(const Model& model, const std::vector<OpsetImport>& opsets) {
  Model scope;
  scope.opsets = opsets;
  scope.ir_version = model.ir_version;
  scope.ops = model.ops;
  return scope;
}

std::shared_ptr<Model> clone_model(const Model& model) {
  check_depth(model);
  auto copy = std::make_shared<Model>();
  clone_header(model, *copy);
  for (const Function& f : model.functions) copy->functions.push_back(clone_function(f));
  ValueMap map;
  clone_into(*model.graph, *copy->graph, map);
  return copy;
}

std::shared_ptr<Model> copy(const Model& model) { return clone_model(model); }

std::shared_ptr<Graph> copy(const Graph& graph, Graph* parent, ValueMap& map) {
  check_depth(graph);
  for (const Value* v : captured_values(graph)) {
    if (map.contains(v)) continue;
    Value* outer = parent != nullptr ? parent->lookup(v->name()) : nullptr;
    require(outer != nullptr, ErrorCode::kInvalidArgument,
            "the graph '{}' uses '{}' from outside, which the place it is copied to does not have",
            graph.name, v->name());
    map[v] = outer;
  }
  return clone_graph(graph, parent, map);
}

Node* copy(const Node& node, Graph& into, ValueMap& map) { return clone_node(node, into, map); }
Value* copy(const Value& value, Graph& into) { return clone_value(value, into); }

}  // namespace assay
