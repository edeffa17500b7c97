// Shared by all examples: arguments, an empty model, a tensor of ones, and the chain that several begin
// with.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "assay/edit.h"
#include "assay/error.h"
#include "assay/fold.h"
#include "assay/io.h"

namespace example {

/// Calls `body` with the folder that the command line names; errors become a message and exit status 1.
template <typename Body>
int run(int argc, char** argv, const Body& body) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  try {
    body(argv[1]);
    return 0;
  } catch (const assay::Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}

/// Opset 11 and the name that ONNX-GraphSurgeon gives a graph.
inline assay::Model new_model() {
  assay::Model model;
  model.opsets = {{"", 11}};
  model.graph->name = "onnx_graphsurgeon_graph";
  return model;
}

inline assay::Tensor ones(assay::Shape shape) {
  assay::Tensor t = assay::Tensor::allocate(assay::DType::kFloat32, std::move(shape));
  for (float& x : t.mutable_span<float>()) x = 1;
  return t;
}

/// float32 [B, 3, 64, 64]
inline assay::Type image_type() {
  return assay::Type::tensor(assay::DType::kFloat32, {assay::Dim::symbol("B"), 3, 64, 64});
}

/// tensor0 -> Identity -> tensor1 -> Add constant0 -> tensor2 -> Identity -> tensor3
inline assay::Model identity_add_identity(const assay::Type& output_type) {
  assay::Model model = new_model();
  assay::Graph& graph = *model.graph;
  assay::Value* x = graph.add_input("tensor0", image_type());
  assay::Value* same = graph.add_value("tensor1", image_type());
  assay::Value* one = graph.add_constant("constant0", ones({1, 1, 1, 1}));
  assay::Value* sum = graph.add_value("tensor2", image_type());
  assay::Value* y = graph.add_value("tensor3", output_type);
  graph.add_node("Identity", {x}, {same}, {}, "myIdentity0");
  graph.add_node("Add", {same, one}, {sum}, {}, "myAdd");
  graph.add_node("Identity", {sum}, {y}, {}, "myIdentity1");
  graph.outputs = {y};
  return model;
}

}  // namespace example
