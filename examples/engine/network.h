// The network of the examples: y = Relu(x * w + b) for any number of rows.
#pragma once

#include <fmt/core.h>

#include <cstdlib>
#include <exception>
#include <memory>

#include "assay/graph.h"

namespace example {

inline std::shared_ptr<assay::Model> network() {
  using namespace assay;
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 17}};
  Graph& g = *model->graph;
  g.name = "dense";
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim::symbol("rows"), Dim(4)}));
  Value* w = g.add_constant("w", Tensor::from<float>({4, 2}, std::vector<float>{1, 0, 0, 1, 1, 0, 0, 1}));
  Value* b = g.add_constant("b", Tensor::vector<float>({0.5F, -0.5F}));
  Value *product = g.add_value("product"), *sum = g.add_value("sum");
  Value* y = g.add_value("y", Type::tensor(DType::kFloat32, Dims{Dim::symbol("rows"), Dim(2)}));
  g.add_node("MatMul", {x, w}, {product}, {}, "matmul");
  g.add_node("Add", {product, b}, {sum}, {}, "add");
  g.add_node("Relu", {sum}, {y}, {}, "relu");
  g.outputs = {y};
  return model;
}

/// Runs an example: what it throws ends the program with a sentence.
template <typename F>
int run(F body) {
  try {
    body();
    return EXIT_SUCCESS;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return EXIT_FAILURE;
  }
}

inline void check(bool condition, const char* what) {
  if (!condition) throw assay::Error(assay::ErrorCode::kInternal, what);
}

}  // namespace example
