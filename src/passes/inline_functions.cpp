// Calls of the model's own functions are replaced by the functions' bodies.
#include "graph/at_node.h"
#include "graph/clone.h"
#include "graph/function_index.h"
#include "graph/node_order.h"
#include "graph/order.h"
#include "naming/origins.h"
#include "ops/check.h"
#include "passes/pass_list.h"

namespace assay::pass_inline_functions {
namespace {

/// How deep functions may call each other, and how many calls a model may come to.
constexpr int kMaxDepth = 64;
constexpr size_t kMaxCalls = 100000;

/// The opsets that the body relies on are those of the model; imports that only the body has are added.
bool imports_agree(const Function& f, Model& model) {
  for (const OpsetImport& o : f.opsets) {
    const int64_t version = model.opset(o.domain);
    if (version == 0)
      model.opsets.push_back(o);
    else if (version != o.version)
      return false;
  }
  return true;
}

/// A call's attribute, else the function's default for it; null when there is neither.
const Attribute* actual_attribute(const Node& call, const Function& f, std::string_view name) {
  if (const Attribute* a = call.find_attribute(name)) return a;
  for (const Attribute& a : f.attribute_defaults)
    if (a.name == name) return &a;
  return nullptr;
}

/// Attributes that refer to the function's parameters get the call's values, in subgraphs too.
void substitute(Node& n, const Node& call, const Function& f) {
  std::vector<Attribute> attributes;
  for (Attribute& a : n.attributes) {
    if (a.ref_attr_name.empty()) {
      if (auto* sub = std::get_if<std::shared_ptr<Graph>>(&a.data))
        for (const auto& inner : (*sub)->nodes()) substitute(*inner, call, f);
      attributes.push_back(std::move(a));
    } else if (const Attribute* actual = actual_attribute(call, f, a.ref_attr_name)) {
      attributes.push_back({.name = a.name, .data = actual->data, .doc_string = a.doc_string});
    }
  }
  n.attributes = std::move(attributes);
}

void inline_call(Node& call, const Function& f, NodeOrder& nodes) {
  at_node(call, [&] { check_call(call, f); });
  Graph& g = call.graph();
  const std::string prefix = call.name.empty() ? f.name : call.name;
  ValueMap map;
  const std::vector<Value*> inputs = call.inputs(), outputs = call.outputs();
  for (size_t i = 0; i < f.body->inputs.size(); ++i)
    map[f.body->inputs[i]] = i < inputs.size() ? inputs[i] : nullptr;
  const std::vector<std::string> origins = origins_of(call);
  call.set_outputs({});
  for (size_t i = 0; i < f.body->outputs.size() && i < outputs.size(); ++i)
    if (outputs[i] != nullptr && !map.contains(f.body->outputs[i])) map[f.body->outputs[i]] = outputs[i];
  for (const auto& v : f.body->values()) {
    if (map.contains(v.get())) continue;
    Value* copy = g.add_value(g.unique_name(prefix + "/" + v->name()), v->type);
    if (v->tensor().defined()) copy->set_tensor(v->tensor());
    map[v.get()] = copy;
  }
  const auto place = [&](Node& added) {
    set_origins(added, origins);
    nodes.insert(&call, added);
  };
  for (const auto& n : f.body->nodes()) {
    Node* copy = clone_node(*n, g, map);
    copy->name = prefix + "/" + (n->name.empty() ? n->op_type : n->name);
    substitute(*copy, call, f);
    place(*copy);
  }
  // A parameter handed straight through, or given out twice.
  for (size_t i = 0; i < f.body->outputs.size() && i < outputs.size(); ++i) {
    Value* given = map[f.body->outputs[i]];
    if (outputs[i] == nullptr || given == outputs[i]) continue;
    place(*g.add_node("Identity", {given}, {outputs[i]}, {}, prefix + "/output"));
  }
  nodes.remove(call);
}

using Calls = std::vector<std::pair<Node*, const Function*>>;

/// The calls in each graph, outer graphs first: names that inner ones are given must not hide theirs.
void collect(Graph& g, const FunctionIndex& functions, Model& model,
             std::vector<std::pair<Graph*, Calls>>& found) {
  Calls calls;
  for (const auto& n : g.nodes()) {
    const Function* f = functions.called(*n);
    if (f != nullptr && imports_agree(*f, model)) calls.emplace_back(n.get(), f);
  }
  if (!calls.empty()) found.emplace_back(&g, std::move(calls));
  for (const auto& n : g.nodes())
    for (Attribute& a : n->attributes)
      if (auto* body = std::get_if<std::shared_ptr<Graph>>(&a.data)) collect(**body, functions, model, found);
}

bool run(Model& model) {
  check_depth(model);
  const FunctionIndex functions(model);
  size_t total = 0;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    std::vector<std::pair<Graph*, Calls>> graphs;
    collect(*model.graph, functions, model, graphs);
    if (graphs.empty()) return total > 0;
    for (const auto& [graph, calls] : graphs) {
      total += calls.size();
      require(total <= kMaxCalls, ErrorCode::kInvalidModel, "more than {} calls of local functions",
              kMaxCalls);
      NodeOrder nodes(*graph);
      for (const auto& [call, function] : calls) inline_call(*call, *function, nodes);
      nodes.commit();
    }
  }
  fail(ErrorCode::kInvalidModel, "local functions call each other deeper than {}", kMaxDepth);
}

}  // namespace

constinit const PassDef def = {
    .name = "inline_functions",
    .summary = "calls of the model's own functions are replaced by their bodies",
    .conditions = "The opsets that the function imports are those of the model.",
    .run = run,
};

}  // namespace assay::pass_inline_functions
