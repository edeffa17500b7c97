// The graph that the tests of this module look at.
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

/// What is to be found in it.
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
