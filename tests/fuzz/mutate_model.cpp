#include "fuzz/mutate_model.h"

#include <algorithm>

#include "assay/edit.h"
#include "fuzz/mutate.h"
#include "fuzz/valid/draft.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "graph/read.h"
#include "ops/op_set.h"
#include "ops/schema.h"

namespace assay::fuzz {
namespace {

/// More nodes would only take time.
constexpr size_t kMaxNodes = 60;

const OpDef& some_operator(Random& r) {
  const auto ops = built_in_ops().all();
  return *ops[r.below(ops.size())];
}

/// Every graph of the model: the main one, subgraphs, bodies of functions.
std::vector<Graph*> graphs_of(Model& model) {
  std::vector<Graph*> list = {model.graph.get()};
  for (const Function& f : model.functions) list.push_back(f.body.get());
  for (size_t i = 0; i < list.size(); ++i)
    for (Graph* g : subgraphs(*list[i])) list.push_back(g);
  return list;
}

Graph& some_graph(Model& model, Random& r) {
  const std::vector<Graph*> list = graphs_of(model);
  return *list[r.below(list.size())];
}

Node* some_node(Graph& g, Random& r) {
  return g.nodes().empty() ? nullptr : g.nodes()[r.below(g.nodes().size())].get();
}

Value* some_value(Graph& g, Random& r) {
  return g.values().empty() ? nullptr : g.values()[r.below(g.values().size())].get();
}

Type random_type(Random& r) {
  static const std::vector<std::string> kTypes = {"float",
                                                  "double",
                                                  "float16",
                                                  "bfloat16",
                                                  "int64",
                                                  "int32",
                                                  "int8",
                                                  "uint8",
                                                  "uint4",
                                                  "bool",
                                                  "string",
                                                  "complex64",
                                                  "seq(tensor(float))",
                                                  "optional(tensor(float))",
                                                  "map(int64, float)"};
  Shape shape;
  for (size_t n = r.below(5); n > 0; --n) shape.push_back(r.one_of({0, 1, 2, 3, 4, 7}));
  Type type = type_of(random_value(r.one_of(kTypes), shape, r));
  if (!type.is_tensor() || !type.dims || r.chance(40)) return type;
  for (Dim& d : *type.dims)
    if (r.chance(30))
      d = r.chance(50)   ? Dim::symbol("n")
          : r.chance(50) ? Dim()
                         : Dim(std::max<int64_t>(0, random_integer(r)));
  return type;
}

void change_operator(Model& model, Random& r) {
  Node* n = some_node(some_graph(model, r), r);
  if (n == nullptr) return;
  const OpDef& op = some_operator(r);
  n->op_type = std::string(op.name);
  n->domain = std::string(op.domain);
  if (model.opset(op.domain) == 0) model.opsets.push_back({std::string(op.domain), op.versions.back().since});
}

void change_value(Model& model, Random& r) {
  Graph& g = some_graph(model, r);
  Value* v = some_value(g, r);
  if (v == nullptr) return;
  switch (r.below(5)) {
    case 0:
      v->type = random_type(r);
      return;
    case 1:
      v->type = {};
      return;
    case 2:
      v->rename(g.unique_name(
          r.one_of({std::string("x"), std::string("é\n"), std::string(70, 'n'), std::string("a::b")})));
      return;
    case 3:
      if (v->producer() == nullptr && !v->type.dims) return;
      if (v->producer() == nullptr && std::find(g.inputs.begin(), g.inputs.end(), v) == g.inputs.end())
        return;
      if (std::find(g.outputs.begin(), g.outputs.end(), v) == g.outputs.end()) g.outputs.push_back(v);
      return;
    default: {  // a constant instead of an input
      const auto at = std::find(g.inputs.begin(), g.inputs.end(), v);
      if (at == g.inputs.end() || g.parent() != nullptr || &g != model.graph.get()) return;
      Tensor t = random_value("float", {2, 3}, r);
      if (v->type.is_tensor() && v->type.dtype != DType::kUndefined)
        t = random_value(std::string(onnx_name(v->type.dtype)), {2, 3}, r);
      g.inputs.erase(at);
      v->set_tensor(std::move(t));
      return;
    }
  }
}

void change_imports(Model& model, Random& r) {
  if (model.opsets.empty() || r.chance(10)) {
    model.opsets.push_back(
        {r.one_of({std::string(""), std::string("com.microsoft"), std::string("ai.onnx.ml")}), 1});
    return;
  }
  OpsetImport& o = model.opsets[r.below(model.opsets.size())];
  o.version = r.chance(80) ? r.between(1, std::max<int64_t>(1, built_in_ops().newest_opset(o.domain)))
                           : random_integer(r);
  if (r.chance(10)) model.ir_version = r.between(1, 14);
}

void change_edge(Model& model, Random& r) {
  Graph& g = some_graph(model, r);
  Node* n = some_node(g, r);
  if (n == nullptr) return;
  Value* v = r.chance(15) ? nullptr : some_value(g, r);
  n->set_input(r.below(n->inputs().size() + 1), v);
}

/// A node with the attributes of a random one and inputs that are there.
void add_node(Model& model, Random& r) {
  Graph& g = some_graph(model, r);
  if (g.nodes().size() > kMaxNodes) return;
  const OpDef& op = some_operator(r);
  const OpVersion& version = op.versions[r.below(op.versions.size())];
  const Case c = random_case(op, version, r);
  const Node& pattern = *c.model->graph->nodes()[0];
  ValueMap map;
  for (const Value* v : pattern.inputs())
    if (v != nullptr && !map.contains(v)) {
      Value* known = r.chance(80) ? some_value(g, r) : nullptr;
      if (known == nullptr && !v->tensor().defined()) known = some_value(g, r);
      if (known == nullptr && v->tensor().defined() && &g == model.graph.get())
        known = g.add_constant(g.unique_name("c"), v->tensor());
      if (known == nullptr) return;
      map[v] = known;
    }
  for (const Value* v : pattern.outputs())
    if (v != nullptr) map[v] = g.add_value(g.unique_name("v"));
  Node* made = clone_node(pattern, g, map);
  made->name = "node";
  if (model.opset(op.domain) == 0) model.opsets.push_back({std::string(op.domain), version.since});
  if (made->output(0) != nullptr && (g.parent() == nullptr || r.chance(30)))
    g.outputs.push_back(made->output(0));
}

/// The same node again and again, in a row or in parallel.
void repeat_node(Model& model, Random& r) {
  Graph& g = some_graph(model, r);
  Node* n = some_node(g, r);
  if (n == nullptr || n->input(0) == nullptr || n->output(0) == nullptr || g.nodes().size() > kMaxNodes)
    return;
  const bool in_a_row = r.chance(50);
  Value* last = n->output(0);
  for (size_t times = 1 + r.below(6); times > 0; --times) {
    ValueMap map;
    for (const Value* v : all_used_values(*n)) map[v] = const_cast<Value*>(v);
    for (const Value* v : n->inputs())
      if (v != nullptr) map[v] = const_cast<Value*>(v);
    if (in_a_row) map[n->input(0)] = last;
    for (const Value* v : n->outputs())
      if (v != nullptr) map[v] = g.add_value(g.unique_name("again"));
    last = clone_node(*n, g, map)->output(0);
  }
  g.outputs.push_back(last);
}

/// A graph that holds a copy of the node, which uses the values around.
std::shared_ptr<Graph> graph_around(const Node& n, Graph& parent, const std::string& name) {
  auto g = std::make_shared<Graph>();
  g->name = name;
  g->set_parent(&parent);
  ValueMap map;
  for (const Value* v : n.inputs())
    if (v != nullptr) map[v] = const_cast<Value*>(v);
  for (const Value* v : all_used_values(n)) map[v] = const_cast<Value*>(v);
  for (const Value* v : n.outputs())
    if (v != nullptr) g->outputs.push_back(map[v] = g->add_value(parent.unique_name("inner")));
  clone_node(n, *g, map);
  return g;
}

/// The node in both branches of an If, or in the body of a Loop.
void wrap_in_subgraph(Model& model, Random& r) {
  Graph& g = some_graph(model, r);
  Node* n = some_node(g, r);
  if (n == nullptr || has_subgraph(*n)) return;
  std::vector<Value*> outputs;
  for (Value* v : n->outputs())
    if (v != nullptr) outputs.push_back(v);
  if (outputs.empty() || &g != model.graph.get()) return;
  AttributeList attributes;
  const bool is_loop = r.chance(30);
  std::vector<Value*> inputs;
  if (is_loop) {
    std::shared_ptr<Graph> body = graph_around(*n, g, "body");
    body->add_input("turn", Type::tensor(DType::kInt64, Dims{}));
    Value* go = body->add_input("go", Type::tensor(DType::kBool, Dims{}));
    Value* on = body->add_value("on");
    body->add_node("Identity", {go}, {on});
    body->outputs.insert(body->outputs.begin(), on);
    inputs = {g.add_constant(g.unique_name("turns"),
                             Tensor::scalar<int64_t>(r.chance(80) ? r.between(0, 3) : 1000)),
              nullptr};
    attributes.emplace_back("body", body);
  } else {
    for (const char* name : {"then_branch", "else_branch"})
      attributes.emplace_back(name, graph_around(*n, g, name));
    inputs = {r.chance(70) ? g.add_constant(g.unique_name("condition"), Tensor::scalar(r.chance(50)))
                           : some_value(g, r)};
  }
  n->set_outputs({});
  n->set_inputs({});
  g.insert_node(n, is_loop ? "Loop" : "If", inputs, outputs, std::move(attributes), "around");
  g.remove_node(n);
  if (model.opset("") == 0) model.opsets.push_back({"", 21});
}

/// The node in a local function, which is called in its place.
void wrap_in_function(Model& model, Random& r) {
  Graph& g = *model.graph;
  Node* n = some_node(g, r);
  if (n == nullptr || has_subgraph(*n) || model.functions.size() > 3) return;
  Function& f = model.functions.emplace_back();
  f.domain = "local";
  f.name = "f" + std::to_string(model.functions.size());
  f.opsets = model.opsets;
  ValueMap map;
  std::vector<Value*> inputs, outputs;
  for (Value* v : n->inputs()) {
    if (v == nullptr || map.contains(v)) continue;
    map[v] = f.body->add_input("in" + std::to_string(inputs.size()), {});
    inputs.push_back(v);
  }
  for (Value* v : n->outputs()) {
    if (v == nullptr) continue;
    map[v] = f.body->add_value("out" + std::to_string(outputs.size()));
    f.body->outputs.push_back(map[v]);
    outputs.push_back(v);
  }
  clone_node(*n, *f.body, map);
  n->set_outputs({});
  n->set_inputs({});
  if (r.chance(10)) inputs.push_back(inputs.empty() ? nullptr : inputs[0]);
  if (r.chance(10) && !inputs.empty()) inputs.pop_back();
  g.insert_node(n, f.name, inputs, outputs, {}, "call", "local");
  g.remove_node(n);
  if (model.opset("local") == 0) model.opsets.push_back({"local", 1});
}

}  // namespace

std::shared_ptr<Model> random_model(Random& r) {
  const OpDef& op = some_operator(r);
  const OpVersion& version = op.versions[r.chance(70) ? op.versions.size() - 1 : r.below(op.versions.size())];
  Case c = r.chance(60) && !op.random ? valid_case(op, version, r) : random_case(op, version, r);
  Graph& g = *c.model->graph;
  g.name = "g";
  const bool all = r.chance(50);
  std::vector<Value*> left;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    if (c.feed[i].is_container() || !(all || r.chance(40)))
      left.push_back(g.inputs[i]);
    else
      g.inputs[i]->set_tensor(c.feed[i]);
  }
  g.inputs = std::move(left);
  return c.model;
}

void mutate_model(std::shared_ptr<Model>& model, Random& r) {
  switch (r.below(12)) {
    case 0:
      return change_operator(*model, r);
    case 1:
    case 2:
      return change_value(*model, r);
    case 3:
      return change_imports(*model, r);
    case 4:
      return change_edge(*model, r);
    case 5:
    case 6:
      return add_node(*model, r);
    case 7:
      return repeat_node(*model, r);
    case 8:
      return wrap_in_subgraph(*model, r);
    case 9:
      return wrap_in_function(*model, r);
    default: {
      Case c{.model = model, .feed = {}};
      if (!model->graph->nodes().empty()) mutate(c, r);
      model = c.model;
    }
  }
}

bool has_loop(Model& model) {
  const std::vector<Graph*> graphs = graphs_of(model);
  return std::any_of(graphs.begin(), graphs.end(), [](const Graph* g) {
    return std::any_of(g->nodes().begin(), g->nodes().end(),
                       [](const auto& n) { return n->op_type == "Loop" || n->op_type == "Scan"; });
  });
}

}  // namespace assay::fuzz
