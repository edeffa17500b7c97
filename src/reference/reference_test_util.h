// For tests of this module: models built in place, and float32 numbers.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "ops/infer.h"
#include "reference/interpreter.h"

namespace assay {

/// A model of opset 21 to be filled in by a test.
struct TestModel {
  std::shared_ptr<Model> model = std::make_shared<Model>();
  Graph& graph = *model->graph;

  TestModel() { model->opsets = {{"", 21}}; }
  Value* input(const std::string& name, Shape shape, DType dtype = DType::kFloat32) {
    return graph.add_input(name, Type::tensor(dtype, shape));
  }
  Value* constant(const std::string& name, Tensor t) { return graph.add_constant(name, std::move(t)); }
  /// A node of the name `name` with one output of the same name.
  Value* node(const std::string& op, const std::string& name, std::vector<Value*> inputs,
              AttributeList attributes = {}) {
    Value* out = graph.add_value(name);
    graph.add_node(op, std::move(inputs), {out}, std::move(attributes), name);
    return out;
  }
  /// The model with these outputs and its shapes inferred.
  std::shared_ptr<const Model> with_outputs(std::vector<Value*> outputs) {
    graph.outputs = std::move(outputs);
    infer_shapes(*model);
    return model;
  }
};

inline Tensor random_floats(Shape shape, unsigned seed, float low = -1, float high = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  Tensor t = Tensor::allocate(DType::kFloat32, std::move(shape));
  for (float& x : t.mutable_span<float>()) x = uniform(generator);
  return t;
}

/// Every value that an interpreter observed, by name, one tensor a lane.
using Observed = std::vector<std::pair<std::string, std::vector<Tensor>>>;

inline Observed observe(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
                        const InterpreterOptions& options = {},
                        const std::vector<const Value*>& wanted = {}) {
  Observed seen;
  Interpreter(model, options)
      .run(
          feed,
          [&](const Value& v, std::span<const Tensor> lanes) {
            seen.emplace_back(v.name(), std::vector<Tensor>(lanes.begin(), lanes.end()));
          },
          wanted);
  return seen;
}

/// The message of the Error that the body throws; empty when it throws none.
template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace assay
