// What 8 bits cost: a layer that is bad for them is found, and held back.
#include "debug/quantization_study.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ops/infer.h"

namespace assay::debug::quantization_study_test {
namespace {

Tensor numbers(const Shape& shape, std::mt19937& random, float scale = 1) {
  std::normal_distribution<float> draw(0, scale);
  Tensor t = Tensor::allocate(DType::kFloat32, shape);
  for (float& x : t.mutable_span<float>()) x = draw(random);
  return t;
}

/// Three products in a row and a third one beside them; the inputs of `bad` have a few numbers a thousand
/// times as large as the others, whose weights are 0.
std::shared_ptr<Model> network() {
  std::mt19937 random(1);
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 17}};
  Graph& g = *model->graph;
  const auto product = [&](const char* name, Value* x, Tensor w) {
    Value* y = g.add_value(std::string(name) + "/y");
    g.add_node("MatMul", {x, g.add_constant(std::string(name) + "/w", std::move(w))}, {y}, {}, name);
    return y;
  };
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{8, 32}));
  Value* first = product("first", x, numbers({32, 32}, random, 0.2F));
  Value* spread = g.add_value("spread");
  Tensor factors = Tensor::allocate(DType::kFloat32, {32});
  for (int64_t i = 0; i < 32; ++i) factors.mutable_data<float>()[i] = i == 5 ? 30.0F : 1.0F;
  g.add_node("Mul", {first, g.add_constant("factors", factors)}, {spread}, {}, "mul");
  Tensor w = numbers({32, 32}, random, 0.2F);
  for (int64_t k = 0; k < 32; ++k) w.mutable_data<float>()[5 * 32 + k] = 0;
  Value* bad = product("bad", spread, w);
  g.outputs = {product("last", bad, numbers({32, 16}, random, 0.2F))};
  infer_shapes(*model);
  return model;
}

class Data final : public DataSource {
 public:
  void begin(const std::vector<TensorInfo>&) override {}
  std::optional<TensorList> next() override {
    if (at_ == 2) return std::nullopt;
    std::mt19937 random(static_cast<uint32_t>(7 + at_++));
    return TensorList{{"x", numbers({8, 32}, random)}};
  }

 private:
  int at_ = 0;
};

EngineBuildOptions options() {
  EngineBuildOptions o;
  o.config.int8 = true;
  o.config.optimization_level = 0;
  o.calibration.algorithm = CalibrationAlgorithm::kMinMax;
  o.calibration.data = [] { return std::make_shared<Data>(); };
  return o;
}

TEST(QuantizationStudy, TheLayerThatCostsMostComesFirstAndIsHeldBack) {
  const Runtime runtime({.threads = 1});
  const auto model = network();
  EngineBuildOptions build = options();
  QuantizationStudy study(runtime, model, build);
  QuantizationCost cost = study.measure();
  ASSERT_EQ(cost.layers.size(), 3U);
  EXPECT_EQ(cost.sets, 2U);
  EXPECT_EQ(cost.layers[0].layer, "bad");
  EXPECT_GT(cost.layers[0].error_share, 0.9);
  EXPECT_LT(cost.layers[0].decibels, 20);
  EXPECT_GT(cost.layers[1].decibels, 30);
  double sum = 0;
  for (const LayerCost& l : cost.layers) {
    sum += l.error_share;
    EXPECT_EQ(l.saturated, 0) << l.layer;  // the largest magnitude of the same data
    EXPECT_EQ(l.multiply_adds, 8 * 32 * (l.layer == "last" ? 16 : 32));
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_LT(cost.all_lowered.decibels, 20);

  study.hold_back(cost, AccuracyGoal::parse("30dB"));
  EXPECT_EQ(held_layers(cost), std::vector<std::string>{"bad"});
  EXPECT_GE(cost.answer.decibels, 30);
  // An engine that is built so is as exact as was said.
  build.config.calibrator = given_scales(study.scales(), "scales");
  build.config.float_nodes = held_layers(cost);
  const auto engine = build_engine(runtime, model, build);
  EXPECT_NEAR(study.accuracy_of(engine).decibels, cost.answer.decibels, 0.3);
  build.config.float_nodes.clear();
  EXPECT_NEAR(study.accuracy_of(build_engine(runtime, model, build)).decibels, cost.all_lowered.decibels,
              0.3);

  study.hold_back(cost, AccuracyGoal::parse("5dB"));
  EXPECT_TRUE(held_layers(cost).empty());
  study.hold_back(cost, AccuracyGoal::parse("120dB"));
  EXPECT_EQ(held_layers(cost).size(), 3U);
  EXPECT_FALSE(QuantizationStudy::hold_more(cost, 1));
}

TEST(QuantizationStudy, WhatIsSaturatedIsCounted) {
  const Runtime runtime({.threads = 1});
  EngineBuildOptions build = options();
  build.calibration.algorithm = CalibrationAlgorithm::kLegacy;
  build.calibration.quantile = 0.9;
  QuantizationStudy study(runtime, network(), build);
  for (const LayerCost& l : study.measure().layers) EXPECT_NEAR(l.saturated, 0.1, 0.02) << l.layer;
}

TEST(QuantizationStudy, Reports) {
  QuantizationCost cost{.all_lowered = {.decibels = 25, .absolute = 0.5, .relative = 0.1}, .sets = 3};
  cost.layers = {{.layer = "a,b",
                  .op_type = "Conv",
                  .decibels = 20,
                  .saturated = 0.25,
                  .error_share = 0.75,
                  .multiply_adds = 1'000'000,
                  .seconds_gained = 1e-4,
                  .is_held = true},
                 {.layer = "c", .op_type = "Gemm", .decibels = INFINITY, .error_share = 0.25}};
  cost.goal = AccuracyGoal::parse("30dB");
  const std::string text = cost_text(cost, 1), csv = cost_csv(cost), json = cost_json(cost);
  for (const char* part : {"75.00%", "20.0 dB", "25.000%", "a,b (Conv), stays in float32", "and 1 more",
                           "1 of 2 layers stay in float32"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_NE(csv.find("\"a,b\",Conv,0.75,20.0,0.25,0.0001,1000000,1\n"), std::string::npos) << csv;
  for (const char* part : {"\"layer\": \"a,b\"", "\"target\": \"30dB\"", "\"float32\": true", "\"sets\": 3"})
    EXPECT_NE(json.find(part), std::string::npos) << json;
}

TEST(QuantizationStudy, WhatCannotBeStudied) {
  const Runtime runtime({.threads = 1});
  EngineBuildOptions none = options();
  none.calibration.data = nullptr;
  EXPECT_THROW(QuantizationStudy(runtime, network(), none), Error);
  EngineBuildOptions all_held = options();
  all_held.config.float_nodes = {"*"};
  EXPECT_THROW(QuantizationStudy(runtime, network(), all_held), Error);
}

}  // namespace
}  // namespace assay::debug::quantization_study_test
