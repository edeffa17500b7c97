#include "surgeon/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "assay/edit.h"
#include "assay/error.h"
#include "graph/clone.h"

namespace assay {
namespace {

Value* find(Graph& g, const CutTensor& t) {
  Value* v = g.find_value(t.name);
  require(v != nullptr, ErrorCode::kNotFound, "Tensor: {} does not exist in the model", t.name);
  return v;
}

void declare(Value& v, const CutTensor& t) {
  if (t.dtype && (!v.type.is_tensor() || v.type.dtype != *t.dtype))
    v.type = v.type.has_shape() ? Type::tensor(*t.dtype, *v.type.dims) : Type::tensor(*t.dtype);
  if (t.dims) v.type = Type::tensor(v.type.dtype, *t.dims);
}

void cut_off(Value& v) {
  v.clear_tensor();
  v.is_overridable = false;
  detach_from_producer(v);
}

/// Names the tensors that are used but not computed.
void require_all_given(const Graph& g) {
  const std::unordered_set<const Value*> inputs(g.inputs.begin(), g.inputs.end());
  std::vector<std::string> missing;
  for (const Value* v : tensors(g)) {
    if (&v->graph() != &g || v->producer() != nullptr || v->is_constant() || inputs.contains(v)) continue;
    std::string users;
    for (const Node* n : v->consumers()) users += (users.empty() ? "" : ", ") + n->label();
    missing.push_back(
        fmt::format("'{}' ({})", v->name(), users.empty() ? "an output itself" : "used by " + users));
  }
  if (missing.empty()) return;
  Error e(ErrorCode::kInvalidArgument,
          fmt::format("the outputs cannot be computed from these inputs alone; they also need {}",
                      fmt::join(missing, ", ")));
  e.set_remedy("Add these tensors, or tensors between them and the outputs, to the inputs.");
  throw e;
}

/// All outer values captured by the graph and its subgraphs.
void collect_captures(const Graph& g, const Graph& top, std::unordered_set<const Value*>& seen,
                      std::vector<Value*>& found) {
  const auto is_inside = [&](const Value* v) {
    for (const Graph* at = &v->graph(); at != nullptr; at = at->parent())
      if (at == &top) return true;
    return false;
  };
  const auto look = [&](Value* v) {
    if (v != nullptr && !is_inside(v) && seen.insert(v).second) found.push_back(v);
  };
  for (const auto& n : g.nodes())
    for (Value* v : n->inputs()) look(v);
  for (Value* v : g.outputs) look(v);
  for (const Graph* sub : subgraphs(g)) collect_captures(*sub, top, seen, found);
}

/// Puts the defaults in place of references to the function's parameters.
void resolve_parameters(const Graph& g, const Function& f) {
  for (const auto& n : g.nodes())
    for (Attribute& a : n->attributes) {
      if (a.ref_attr_name.empty()) continue;
      const auto named = [&](const Attribute& d) { return d.name == a.ref_attr_name; };
      const auto found = std::find_if(f.attribute_defaults.begin(), f.attribute_defaults.end(), named);
      require(found != f.attribute_defaults.end(), ErrorCode::kInvalidArgument,
              "node {} takes its attribute '{}' from the parameter '{}' of the function '{}', which has no "
              "default: only a call of the function has a value for it",
              n->label(), a.name, a.ref_attr_name, f.name);
      a.data = found->data;
      a.ref_attr_name.clear();
    }
  for (const Graph* sub : subgraphs(g)) resolve_parameters(*sub, f);
}

}  // namespace

void extract(Graph& graph, const std::vector<CutTensor>& inputs, const std::vector<CutTensor>& outputs) {
  std::vector<Value*> in, out;
  for (const CutTensor& t : inputs) in.push_back(find(graph, t));
  for (const CutTensor& t : outputs) out.push_back(find(graph, t));
  std::unordered_set<const Value*> given, wanted;
  graph.inputs.clear();
  for (size_t i = 0; i < in.size(); ++i) {
    declare(*in[i], inputs[i]);
    cut_off(*in[i]);
    if (given.insert(in[i]).second) graph.inputs.push_back(in[i]);
  }
  graph.outputs.clear();
  for (size_t i = 0; i < out.size(); ++i) {
    declare(*out[i], outputs[i]);
    if (wanted.insert(out[i]).second) graph.outputs.push_back(out[i]);
  }
  cleanup(graph);
  require_all_given(graph);
}

void make_main_graph(Model& model, Graph& graph) {
  if (model.graph.get() == &graph) return;
  auto body = std::make_unique<Graph>();
  body->name = graph.name;
  body->doc_string = graph.doc_string;
  body->metadata = graph.metadata;
  body->extra_fields = graph.extra_fields;
  std::vector<Value*> captures;
  std::unordered_set<const Value*> seen;
  collect_captures(graph, graph, seen, captures);
  ValueMap map;
  for (const auto& v : graph.values()) map[v.get()] = clone_value(*v, *body);
  for (Value* v : graph.inputs) body->inputs.push_back(map.at(v));
  for (Value* v : captures) {
    map[v] = clone_value(*v, *body);
    if (!v->is_constant() || v->is_overridable) body->inputs.push_back(map.at(v));
  }
  for (const auto& n : graph.nodes()) clone_node(*n, *body, map);
  for (Value* v : graph.outputs) body->outputs.push_back(map.at(v));
  for (const Function& f : model.functions) {
    const Graph* top = &graph;
    while (top->parent() != nullptr) top = top->parent();
    if (f.body.get() != top) continue;
    resolve_parameters(*body, f);
    model.opsets = f.opsets;
  }
  model.graph = std::move(body);
}

}  // namespace assay
