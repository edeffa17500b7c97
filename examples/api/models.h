// The models that the examples work on.
#pragma once

#include <assay/edit.h>
#include <assay/io.h>

#include <string>

/// One Identity node on an image of 2x2, as in Polygraphy's examples.
inline std::string identity_model() {
  using namespace assay;
  Model model;
  model.opsets = {{"", 17}};
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(1), Dim(2), Dim(2)}));
  g.outputs = layer(g, "Identity", {x}, {"y"});
  g.outputs[0]->rename("y");
  g.outputs[0]->type = x->type;
  save_model(model, "identity.onnx");
  return "identity.onnx";
}

/// y = softmax(x w), with any number of rows.
inline std::string dynamic_model() {
  using namespace assay;
  Model model;
  model.opsets = {{"", 17}};
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim::symbol("batch"), Dim(4)}));
  Tensor w = Tensor::zeros(DType::kFloat32, Shape{4, 3});
  for (int64_t i = 0; i < w.numel(); ++i) w.mutable_data<float>()[i] = static_cast<float>(i % 5) - 2;
  Value* product = layer(g, "MatMul", {x, w}, {"product"})[0];
  g.outputs = layer(g, "Softmax", {product}, {"y"});
  g.outputs[0]->rename("y");
  g.outputs[0]->type = Type::tensor(DType::kFloat32, Dims{Dim::symbol("batch"), Dim(3)});
  save_model(model, "dynamic.onnx");
  return "dynamic.onnx";
}
