// Small graphs run by the engine and by the float64 reference, for tests of tactics.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "assay/backend_set.h"
#include "assay/edit.h"
#include "engine/specialize/plan_builder.h"
#include "engine/target/target.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay {

class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    model->opsets = {{"", 18}};
    options.threads = 2;
  }

  Tensor random(const Shape& shape, float low = -1, float high = 1) {
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    std::uniform_real_distribution<float> uniform(low, high);
    for (float& x : t.mutable_span<float>()) x = uniform(engine_);
    return t;
  }
  Value* input(const std::string& name, const Shape& shape) {
    Dims dims;
    for (const int64_t d : shape.dims()) dims.push_back(Dim(d));
    feed.push_back(random(shape));
    return g.add_input(name, Type::tensor(DType::kFloat32, dims));
  }
  Value* weight(const Shape& shape) { return g.add_constant(g.unique_name("w"), random(shape)); }
  Value* ints(std::vector<int64_t> values) {
    return g.add_constant(g.unique_name("i"), Tensor::vector<int64_t>(values));
  }
  Value* scalar(float x) {
    return g.add_constant(g.unique_name("s"), Tensor::vector<float>({x}).reshaped(Shape{}));
  }
  Value* op(std::string type, std::vector<Value*> inputs, AttributeList attributes = {}) {
    const LayerArguments arguments(inputs.begin(), inputs.end());
    return layer(g, std::move(type), arguments, {"y"}, {.attributes = std::move(attributes)})[0];
  }
  void output(Value* v) { g.outputs.push_back(v); }
  /// Epilogues of convolutions: a batch norm after a function and then an
  /// operand of the result's shape, an operand before the function, and
  /// rare ones. `make` creates a convolution, whose result has this shape.
  template <typename Make>
  std::vector<Value*> ends(const Make& make, const Shape& shape) {
    Shape channels(std::vector<int64_t>(shape.size() - 1, 1));
    channels[0] = shape[1];
    const auto whole = [&] { return input(fmt::format("whole{}", feed.size()), shape); };
    Value* const scaled = op("Mul", {op("Relu", {make()}), weight(channels)});
    Value* const shifted = op("Add", {scaled, weight(channels)});
    std::vector<Value*> all = {op("Add", {shifted, whole()})};
    all.push_back(op("Sigmoid", {op("Add", {make(), whole()})}));
    Value* const halved = op("Mul", {op("LeakyRelu", {make()}), scalar(0.5F)});
    all.push_back(op("Add", {op("Add", {halved, scalar(2)}), whole()}));
    all.push_back(op("Mul", {make(), whole()}));
    return all;
  }

  std::vector<Tensor> exact() {
    std::vector<Tensor> y(g.outputs.size());
    Interpreter reference(model, {});
    reference.run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t i = 0; i < y.size(); ++i)
        if (g.outputs[i] == &v) y[i] = lanes[0];
    });
    return y;
  }
  static void expect_near(const Tensor& got, const Tensor& wanted, const std::string& what) {
    ASSERT_EQ(got.shape(), wanted.shape()) << what;
    const Tensor a = convert(got, DType::kFloat64), b = convert(wanted, DType::kFloat64);
    double top = 1e-3;
    for (const double x : b.span<double>()) top = std::max(top, std::isfinite(x) ? std::abs(x) : 0);
    for (int64_t i = 0; i < a.numel(); ++i)
      ASSERT_NEAR(a.data<double>()[i], b.data<double>()[i], 1e-5 * top) << what << " at " << i;
  }

  std::vector<Tensor> run(Session& session) {
    std::vector<Tensor> y(g.outputs.size());
    session.run(feed, [&](size_t i, Tensor t) { y[i] = std::move(t); });
    return y;
  }
  std::unique_ptr<Session> open() { return built_in_backends().get("engine").open({model, {}}, options); }

  /// The usual layout of images here, for processors with AVX-512; otherwise blocks of 8.
  static bool has_blocks_of_16() { return engine::cpu_target()->layouts()[0].block == 16; }

  /// Steps of the plan by tactic.
  std::multiset<std::string> tactics() {
    std::vector<Shape> shapes;
    for (const Tensor& t : feed) shapes.push_back(t.shape());
    std::multiset<std::string> names;
    const auto plan = engine::PlanBuilder(*model, engine::default_config(2)).build(shapes);
    for (const engine::Step& s : plan->steps) names.insert(s.tactic);
    return names;
  }

  /// Runs twice, so that memory left by the first run is under the second; `wanted` lists the plan's steps.
  void expect_agreement(const std::multiset<std::string>& wanted = {}) {
    infer_shapes(*model);
    const std::vector<Tensor> reference = exact();
    const std::unique_ptr<Session> session = open();
    for (int repeat = 0; repeat < 2; ++repeat) {
      const std::vector<Tensor> y = run(*session);
      for (size_t i = 0; i < y.size(); ++i) expect_near(y[i], reference[i], g.outputs[i]->name());
    }
    if (!wanted.empty()) {
      EXPECT_EQ(tactics(), wanted);
    }
  }

  std::shared_ptr<Model> model = std::make_shared<Model>();
  Graph& g = *model->graph;
  std::vector<Tensor> feed;
  SessionOptions options;

 private:
  std::mt19937 engine_{5};
};

}  // namespace assay
