// Models for the tests of this module.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Builds a model by names: values are created when they are first named.
struct TestModel {
  std::shared_ptr<Model> model = std::make_shared<Model>();
  Graph* graph = model->graph.get();

  TestModel() {
    model->opsets = {{"", 17}};
    graph->name = "g";
  }
  static Value* value(Graph& g, const std::string& name) {
    Value* v = g.lookup(name);
    return v != nullptr ? v : g.add_value(name);
  }
  static Node* node(Graph& g, const std::string& op, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, AttributeList attributes = {},
                    std::string name = {}, std::string domain = {}) {
    std::vector<Value*> in, out;
    for (const auto& i : inputs) in.push_back(i.empty() ? nullptr : value(g, i));
    for (const auto& o : outputs) out.push_back(value(g, o));
    return g.add_node(op, in, out, std::move(attributes), std::move(name), std::move(domain));
  }
  Node* node(const std::string& op, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs, AttributeList attributes = {}, std::string name = {},
             std::string domain = {}) {
    return node(*graph, op, inputs, outputs, std::move(attributes), std::move(name), std::move(domain));
  }
  Value* input(const std::string& name, Dims dims, DType dtype = DType::kFloat32) {
    return graph->add_input(name, Type::tensor(dtype, std::move(dims)));
  }
  void output(const std::string& name, Dims dims, DType dtype = DType::kFloat32) {
    Value* v = value(*graph, name);
    v->type = Type::tensor(dtype, std::move(dims));
    graph->outputs.push_back(v);
  }
  /// float32, counted up from `first`.
  Value* constant(const std::string& name, const Shape& shape, float first = 1) {
    Tensor t = Tensor::zeros(DType::kFloat32, shape);
    for (float& x : t.mutable_span<float>()) x = first++;
    return graph->add_constant(name, std::move(t));
  }
  /// A graph whose outer values are this model's, with no inputs.
  std::shared_ptr<Graph> subgraph() const {
    auto g = std::make_shared<Graph>();
    g->set_parent(graph);
    return g;
  }
};

}  // namespace assay
