// The graph of this module's tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// i0 -> O -> i1; A(i1) -> i2; B(i1) -> i3; C(i2, i3) -> i4 with x = 1; D(i4) -> o1; E(i4) -> o2.
inline std::shared_ptr<Model> toy_model() {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 13}};
  Graph& g = *model->graph;
  const Type type = Type::tensor(DType::kFloat32, Dims{Dim(2), Dim(3)});
  Value* i0 = g.add_input("i0", type);
  const auto node = [&](const char* op, std::vector<Value*> inputs, const char* output, const char* name) {
    Value* v = g.add_value(output, type);
    g.add_node(op, std::move(inputs), {v}, {}, name);
    return v;
  };
  Value* i1 = node("O", {i0}, "i1", "n1");
  Value* i2 = node("A", {i1}, "i2", "n2");
  Value* i3 = node("B", {i1}, "i3", "n3");
  Value* i4 = node("C", {i2, i3}, "i4", "n4");
  g.nodes().back()->set_attribute("x", int64_t{1});
  g.outputs = {node("D", {i4}, "o1", "n5"), node("E", {i4}, "o2", "n6")};
  return model;
}

/// The matches to be found in it.
inline constexpr const char* kToyPattern = R"(op: Toy
inputs: [a]
nodes:
  - {name: A, op: A, inputs: [a], outputs: [b]}
  - {name: B, op: B, inputs: [a], outputs: [c]}
  - {name: C, op: C, inputs: [b, c], outputs: [d]}
  - {name: D, op: D, inputs: [d], outputs: [e]}
  - {name: E, op: E, inputs: [d], outputs: [f]}
outputs: [e, f]
where:
  - C.x < 2
  - shape(b) == shape(c)
replacement:
  attributes:
    twice: = C.x * 2
    mode: fast
    sign: ==1
)";

/// A Relu and a Neg in each graph: main (x -> h -> y), the body of a Loop, an If in it, and a function
/// `local.F`. The Loop's body starts with x, the then_branch with the body's result.
inline std::shared_ptr<Model> nested_model() {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 13}, {"local", 1}};
  Graph& g = *model->graph;
  const Type type = Type::tensor(DType::kFloat32, Dims{Dim(2)});
  const auto relu_neg = [&](Graph& graph, Value* x, const std::string& prefix) {
    Value *h = graph.add_value(prefix + "h", type), *y = graph.add_value(prefix + "y", type);
    graph.add_node("Relu", {x}, {h}, {}, prefix + "relu");
    graph.add_node("Neg", {h}, {y}, {}, prefix + "neg");
    return y;
  };
  Value* x = g.add_input("x", type);
  Value* cond = g.add_input("cond", Type::tensor(DType::kBool, Dims{}));
  Value* y = relu_neg(g, x, "");
  auto body = std::make_shared<Graph>(), branch = std::make_shared<Graph>(),
       other = std::make_shared<Graph>();
  body->set_parent(&g);
  body->add_input("i", Type::tensor(DType::kInt64, Dims{}));
  body->add_input("c", Type::tensor(DType::kBool, Dims{}));
  Value* inner = relu_neg(*body, x, "b_");
  branch->set_parent(body.get());
  branch->outputs = {relu_neg(*branch, inner, "t_")};
  other->set_parent(body.get());
  other->outputs = {inner};
  Value* chosen = body->add_value("chosen", type);
  body->add_node("If", {cond}, {chosen}, {{"then_branch", branch}, {"else_branch", other}}, "if");
  Value* go = body->add_value("go", Type::tensor(DType::kBool, Dims{}));
  body->add_node("Identity", {body->inputs[1]}, {go});
  body->outputs = {go, chosen};
  Value* all = g.add_value("all");
  Value* trips = g.add_constant("trips", Tensor::scalar(int64_t{2}));
  g.add_node("Loop", {trips, cond}, {all}, {{"body", body}}, "loop");
  Function& f = model->functions.emplace_back();
  f.domain = "local";
  f.name = "F";
  f.opsets = {{"", 13}};
  f.body->outputs = {relu_neg(*f.body, f.body->add_input("p", {}), "f_")};
  Value* called = g.add_value("called");
  g.add_node("F", {x}, {called}, {}, "call", "local");
  g.outputs = {y, all, called};
  return model;
}

/// op(inputs) -> outputs of every node.
inline std::string graph_text(const Graph& g) {
  const auto names = [](const std::vector<Value*>& values) {
    std::string out;
    for (const Value* v : values) out += (out.empty() ? "" : ",") + (v != nullptr ? v->name() : "-");
    return out;
  };
  std::string out;
  for (const auto& n : g.nodes())
    out += n->op_type + "(" + names(n->inputs()) + ")->" + names(n->outputs()) + " ";
  return out;
}

}  // namespace assay
