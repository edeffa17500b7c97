// For tests: one step of a small decoder whose cache grows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "ops/infer.h"

namespace assay::engine {

/// Inputs: x, one row of 8; mask, one number for each place; for each layer its keys and values so far, of 2
/// heads of 4. Outputs: the row, and the keys and values with the new ones. Shapes are computed, as exporters
/// write it.
class TestDecoder {
 public:
  /// `counts`: the row is scaled by the last element of the mask's running sum, as positions are found of
  /// masks.
  explicit TestDecoder(int layers, bool counts = false) : g(*model->graph) {
    model->opsets = {{"", 18}};
    Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{1, 8}));
    mask_ = g.add_input("mask", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(1), Dim::symbol("total")}));
    if (counts) {
      Value* running = op("CumSum", {mask_, ints({2})});
      Value* last = op("Slice", {running, ints({-1}), ints({INT64_MAX}), ints({2})});
      x = op("Mul", {x, op("Reshape", {op("Sigmoid", {last}), ints({1, 1})})});
    }
    mask_ = op("Mul", {mask_, g.add_constant("lowest", Tensor::scalar<float>(-1e4F))});
    for (int i = 0; i < layers; ++i) x = layer(x, std::to_string(i));
    g.outputs.insert(g.outputs.begin(), x);
    infer_shapes(*model);
  }

  /// The same on every call, and different for other lengths.
  std::vector<Tensor> inputs(int64_t past) const {
    std::vector<Tensor> all;
    for (const Value* v : g.inputs) {
      Shape shape;
      for (const Dim& d : *v->type.dims)
        shape.push_back(d.is_known() ? d.value() : past + (d.symbol() == "total" ? 1 : 0));
      all.push_back(numbers(shape, past + static_cast<int64_t>(all.size())));
    }
    for (float& v : all[1].mutable_span<float>()) v = v > 0.4F ? 1 : 0;
    return all;
  }

  const std::shared_ptr<Model> model = std::make_shared<Model>();
  Graph& g;

 private:
  static Tensor numbers(const Shape& shape, int64_t seed) {
    Tensor t = Tensor::zeros(DType::kFloat32, shape);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.mutable_data<float>()[i] = static_cast<float>((i * 37 + seed * 11) % 101) / 101 - 0.5F;
    return t;
  }
  Value* op(const std::string& type, std::vector<Value*> inputs, AttributeList attributes = {}) {
    Value* out = g.add_value(g.unique_name(type));
    g.add_node(type, std::move(inputs), {out}, std::move(attributes), out->name());
    return out;
  }
  Value* ints(std::vector<int64_t> values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return g.add_constant(g.unique_name("ints"), Tensor::from<int64_t>(shape, values));
  }
  Value* product(Value* x, int64_t rows, int64_t columns) {
    const Tensor w = numbers(Shape{rows, columns}, static_cast<int64_t>(g.nodes().size()));
    return op("MatMul", {x, g.add_constant(g.unique_name("w"), w)});
  }
  Value* grown(const std::string& name, Value* x) {
    const Dims dims = {Dim(1), Dim(2), Dim::symbol("past"), Dim(4)};
    Value* past = g.add_input(name, Type::tensor(DType::kFloat32, dims));
    Value* added = op("Reshape", {product(x, 8, 8), ints({1, 2, 1, 4})});
    Value* all = op("Concat", {past, added}, {{"axis", int64_t{2}}});
    g.outputs.push_back(all);
    Value* length = op("Gather", {op("Shape", {all}), ints({2})});
    return op("Reshape", {all, op("Concat", {ints({2}), length, ints({4})}, {{"axis", int64_t{0}}})});
  }
  Value* layer(Value* x, const std::string& name) {
    Value* q = op("Reshape", {product(x, 8, 8), ints({2, 1, 4})});
    Value* k = grown("keys" + name, x);
    Value* v = grown("values" + name, x);
    Value* scores = op("MatMul", {q, op("Transpose", {k}, {{"perm", std::vector<int64_t>{0, 2, 1}}})});
    scores = op("Softmax", {op("Add", {scores, mask_})}, {{"axis", int64_t{-1}}});
    Value* y = product(op("Reshape", {op("MatMul", {scores, v}), ints({1, 8})}), 8, 8);
    y = op("Add", {x, y});
    Value* wide = op("Tanh", {product(y, 8, 16)});
    wide = op("Mul", {wide, op("Sigmoid", {wide})});
    return op("Add", {y, op("Tanh", {product(wide, 16, 8)})});
  }

  Value* mask_ = nullptr;
};

}  // namespace assay::engine
