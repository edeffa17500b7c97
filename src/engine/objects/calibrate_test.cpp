// Engines that calibrate: their results, their caches, and the messages about both.
#include "engine/objects/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "assay/builder.h"
#include "engine/objects/state.h"
#include "engine/tactics/tactic.h"
#include "ops/infer.h"
#include "templates/template_set.h"

namespace assay::calibrate_test {
namespace {

/// Sets of inputs in memory, and a cache there.
class TestCalibrator final : public Int8Calibrator {
 public:
  explicit TestCalibrator(std::vector<TensorList> sets) : sets_(std::move(sets)) {}
  CalibrationAlgorithm algorithm() const override { return wanted; }
  std::optional<TensorList> next_batch(const std::vector<TensorInfo>& inputs) override {
    asked = inputs;
    ++calls;
    return next_ < sets_.size() ? std::optional(sets_[next_++]) : std::nullopt;
  }
  std::optional<std::string> read_cache() override { return cache; }
  void write_cache(const std::string& text) override { cache = text; }

  CalibrationAlgorithm wanted = CalibrationAlgorithm::kEntropy2;
  std::optional<std::string> cache;
  std::vector<TensorInfo> asked;
  int calls = 0;

 private:
  std::vector<TensorList> sets_;
  size_t next_ = 0;
};

class CalibrateTest : public testing::Test {
 protected:
  CalibrateTest()
      : runtime({.threads = 2, .on_warning = [this](std::string_view w) { warnings.emplace_back(w); }}) {}

  static std::shared_ptr<Model> network(const char* name) {
    auto model = build_template(find_template(name), {});
    infer_shapes(*model);
    return model;
  }
  /// y = relu(x w1) w2, with an open number of rows.
  std::shared_ptr<Model> open_network() {
    auto model = std::make_shared<Model>();
    model->opsets = {{"", 18}};
    Graph& g = *model->graph;
    Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim::symbol("rows"), Dim(64)}));
    Value* first = g.add_value("first");
    g.add_node("MatMul", {x, g.add_constant("w1", numbers({64, 32}))}, {first}, {}, "one");
    Value* relu = g.add_value("relu");
    g.add_node("Relu", {first}, {relu}, {}, "relu_node");
    Value* y = g.add_value("y");
    g.add_node("MatMul", {relu, g.add_constant("w2", numbers({32, 16}))}, {y}, {}, "two");
    g.outputs = {y};
    infer_shapes(*model);
    return model;
  }
  Tensor numbers(const Shape& shape) {
    std::normal_distribution<float> draw;
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    for (float& x : t.mutable_span<float>()) x = draw(random);
    return t;
  }
  std::shared_ptr<TestCalibrator> calibrator_for(const Model& model, int sets) {
    std::vector<TensorList> data(static_cast<size_t>(sets));
    for (TensorList& set : data)
      for (const Value* v : model.graph->inputs)
        set.push_back({v->name(), numbers(*known_shape(*v->type.dims))});
    return std::make_shared<TestCalibrator>(std::move(data));
  }
  std::shared_ptr<Engine> build(const std::shared_ptr<const Model>& model,
                                std::shared_ptr<Int8Calibrator> calibrator, BuilderConfig config = {}) {
    config.optimization_level = 0;
    config.int8 = true;
    config.calibrator = std::move(calibrator);
    return Builder(runtime).build_engine(model, config);
  }
  std::vector<Tensor> run(const std::shared_ptr<Engine>& engine, const std::vector<Tensor>& feed) {
    return engine->create_execution_context()->infer(feed);
  }
  /// Signal to noise, in decibels.
  static double ratio(const Tensor& exact, const Tensor& other) {
    double signal = 0, noise = 0;
    for (int64_t i = 0; i < exact.numel(); ++i) {
      const double a = exact.data<float>()[i], d = a - other.data<float>()[i];
      signal += a * a, noise += d * d;
    }
    return 10 * std::log10(signal / noise);
  }
  static std::multiset<std::string> steps(const Engine& engine) {
    std::multiset<std::string> names;
    for (const engine::SpecializedPlan& p : engine.state().saved.plans)
      for (const engine::Step& s : p.plan->steps) names.insert(s.tactic);
    return names;
  }

  std::mt19937 random{5};
  std::vector<std::string> warnings;
  Runtime runtime;
};

TEST_F(CalibrateTest, NetworksStayCloseAndRunInEightBits) {
  for (const char* name : {"mnist-cnn", "resnet-18"}) {
    const auto model = network(name);
    for (const CalibrationAlgorithm algorithm :
         {CalibrationAlgorithm::kEntropy2, CalibrationAlgorithm::kMinMax}) {
      const auto calibrator = calibrator_for(*model, 2);
      calibrator->wanted = algorithm;
      const auto engine = build(model, calibrator);
      const std::vector<Tensor> feed = {numbers(*known_shape(*model->graph->inputs[0]->type.dims))};
      const auto exact = run(Builder(runtime).build_engine(model, {.optimization_level = 0}), feed);
      const auto got = run(engine, feed);
      // 8 bits have 127 levels for magnitudes: some 30 dB at each layer, less for all of them.
      EXPECT_GT(ratio(exact[0], got[0]), 18) << name << " " << algorithm_name(algorithm);
      EXPECT_LT(ratio(exact[0], got[0]), 60) << name << ": nothing was rounded";
      EXPECT_GT(steps(*engine).count("int8_conv"), 0U) << name;
      // As a plan it gives the same bits.
      const auto again = runtime.deserialize_engine(engine->serialize());
      EXPECT_TRUE(run(again, feed)[0].identical(got[0])) << name;
    }
  }
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

TEST_F(CalibrateTest, ACacheIsUsedAndNothingIsRun) {
  const auto model = network("mnist-cnn");
  const auto calibrator = calibrator_for(*model, 2);
  const std::string plan = build(model, calibrator)->serialize();
  EXPECT_EQ(calibrator->calls, 3);
  ASSERT_TRUE(calibrator->cache);
  const CalibrationTable table = CalibrationTable::parse(*calibrator->cache, "cache");
  for (const Value* v : model->graph->inputs) EXPECT_GT(table.scales.at(v->name()), 0) << v->name();
  for (const auto& n : model->graph->nodes()) {
    if (n->op_type != "Relu") continue;
    EXPECT_GT(table.scales.at(n->output(0)->name()), 0) << n->label();
  }
  EXPECT_EQ(build(model, calibrator)->serialize(), plan);
  EXPECT_EQ(calibrator->calls, 3);
}

TEST_F(CalibrateTest, TheLargestMagnitudeOfAllSets) {
  const auto model = network("mnist-cnn");
  const auto calibrator = calibrator_for(*model, 3);
  calibrator->wanted = CalibrationAlgorithm::kMinMax;
  build(model, calibrator);
  std::mt19937 same(5);
  std::normal_distribution<float> draw;
  float largest = 0;
  const int64_t count = 3 * known_shape(*model->graph->inputs[0]->type.dims)->numel();
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(draw(same)));
  const CalibrationTable table = CalibrationTable::parse(*calibrator->cache, "cache");
  EXPECT_EQ(table.scales.at(model->graph->inputs[0]->name()), largest / 127);
}

TEST_F(CalibrateTest, TheCacheOfAnotherAlgorithmIsReplaced) {
  const auto model = network("mnist-cnn");
  const auto calibrator = calibrator_for(*model, 1);
  calibrator->cache = "TRT-8601-MinMaxCalibration\nx: 3f800000\n";
  build(model, calibrator);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("is of MinMaxCalibration, not of EntropyCalibration2"), std::string::npos)
      << warnings[0];
  EXPECT_TRUE(calibrator->cache->starts_with("TRT-8601-EntropyCalibration2\n"));
}

TEST_F(CalibrateTest, TensorsWithoutAScaleStayFloat32) {
  const auto model = open_network();
  OptimizationProfile profile;
  profile.set_shape("x", {1, 64}, {4, 64}, {8, 64});
  const auto calibrator = std::make_shared<TestCalibrator>(std::vector<TensorList>{});
  calibrator->cache = "TRT-8601-EntropyCalibration2\nx: 3d000000\n";
  const auto engine = build(model, calibrator, {.profiles = {profile}});
  EXPECT_EQ(steps(*engine).count("int8_matmul"), 1U);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(
      warnings[0].find("has no scale for 1 tensor(s), so the products that read them stay in float32: relu"),
      std::string::npos)
      << warnings[0];
}

TEST_F(CalibrateTest, AQuantizedNodeCanBePinned) {
  const auto model = open_network();
  OptimizationProfile profile;
  profile.set_shape("x", {1, 64}, {4, 64}, {8, 64});
  const auto calibrator =
      std::make_shared<TestCalibrator>(std::vector<TensorList>{{{"x", numbers({4, 64})}}});
  const auto steps_with = [&](const std::string& node, const std::string& tactic) {
    return steps(*build(model, calibrator, {.profiles = {profile}, .pinned_tactics = {{node, tactic}}}));
  };
  // What is put beside it, and has its name, runs on what can run it.
  EXPECT_EQ(steps_with("one", "int8_matmul").count("int8_matmul"), 2U);
  EXPECT_EQ(steps_with("two", "dnnl_matmul").count("int8_matmul"), 1U);
  EXPECT_EQ(steps_with("one", "dnnl_matmul").count("dnnl_matmul"), 1U);
  try {
    steps_with("one", "softmax");
    ADD_FAILURE() << "a tactic that cannot run it was pinned";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("softmax is pinned"), std::string::npos) << e.what();
  }
}

TEST_F(CalibrateTest, OtherShapesAreQuantizedAlike) {
  const auto model = open_network();
  OptimizationProfile profile;
  profile.set_shape("x", {1, 64}, {4, 64}, {8, 64});
  const auto calibrator = std::make_shared<TestCalibrator>(std::vector<TensorList>{
      {{"x", numbers({4, 64})}}, {{"x", numbers({1, 64})}}, {{"x", numbers({8, 64})}}});
  const auto engine = build(model, calibrator, {.profiles = {profile}, .float_nodes = {"two"}});
  ASSERT_EQ(calibrator->asked.size(), 1U);
  EXPECT_EQ(known_shape(*calibrator->asked[0].type.dims), (Shape{4, 64}));
  EXPECT_EQ(steps(*engine).count("int8_matmul"), 1U) << "the other one was to stay in float32";
  // Rows do not depend on each other; a loaded plan makes the one for 8 rows anew.
  const Tensor eight = numbers({8, 64});
  Tensor four = Tensor::allocate(DType::kFloat32, {4, 64});
  std::copy_n(eight.data<float>(), four.numel(), four.mutable_data<float>());
  const auto loaded = runtime.deserialize_engine(engine->serialize());
  const Tensor y8 = run(loaded, {eight})[0], y4 = run(engine, {four})[0];
  EXPECT_NE(
      run(Builder(runtime).build_engine(model, {.optimization_level = 0, .profiles = {profile}}), {four})[0]
          .identical(y4),
      true);
  for (int64_t i = 0; i < y4.numel(); ++i) EXPECT_EQ(y4.data<float>()[i], y8.data<float>()[i]) << i;
}

TEST_F(CalibrateTest, QuantizedNetworksNeedNoScales) {
  const auto model = open_network();
  Graph& g = *model->graph;
  Value* q = g.add_value("q");
  Value* s = g.add_constant("s", Tensor::scalar<float>(0.1F));
  Value* z = g.add_constant("z", Tensor::zeros(DType::kInt8, Shape{}));
  g.add_node("QuantizeLinear", {g.outputs[0], s, z}, {q}, {}, "quantize");
  g.outputs = {q};
  infer_shapes(*model);
  EXPECT_TRUE(is_quantized(*model));
  OptimizationProfile profile;
  profile.set_shape("x", {1, 64}, {4, 64}, {8, 64});
  const auto calibrator = std::make_shared<TestCalibrator>(std::vector<TensorList>{});
  build(model, calibrator, {.profiles = {profile}});
  EXPECT_EQ(calibrator->calls, 0);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CalibrateTest, OldOpsetsAreRaised) {
  const auto model = network("mnist-cnn");
  model->opsets = {{"", 11}};
  const auto engine = build(model, calibrator_for(*model, 1));
  EXPECT_GT(steps(*engine).count("int8_conv"), 0U);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CalibrateTest, WithoutACalibratorNothingChanges) {
  const auto model = network("mnist-cnn");
  const auto engine = build(model, nullptr);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("there is no calibrator"), std::string::npos);
  EXPECT_EQ(steps(*engine).count("int8_conv"), 0U);
}

TEST_F(CalibrateTest, InfinitiesAreTold) {
  const auto model = open_network();
  OptimizationProfile profile;
  profile.set_shape("x", {1, 64}, {4, 64}, {8, 64});
  Tensor x = numbers({4, 64});
  x.mutable_data<float>()[3] = INFINITY;
  const auto calibrator = std::make_shared<TestCalibrator>(std::vector<TensorList>{{{"x", x}}});
  const auto engine = build(model, calibrator, {.profiles = {profile}});
  EXPECT_EQ(steps(*engine).count("int8_matmul"), 0U);
  ASSERT_FALSE(warnings.empty());
  EXPECT_NE(warnings[0].find("met infinities or NaNs in"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("x"), std::string::npos);
}

TEST_F(CalibrateTest, BadInputIsNamed) {
  const auto model = open_network();
  OptimizationProfile profile;
  profile.set_shape("x", {1, 64}, {4, 64}, {8, 64});
  const auto refusal = [&](std::vector<TensorList> sets, std::optional<std::string> cache = {},
                           std::vector<std::string> float_nodes = {}) -> std::string {
    const auto calibrator = std::make_shared<TestCalibrator>(std::move(sets));
    calibrator->cache = std::move(cache);
    try {
      build(model, calibrator, {.profiles = {profile}, .float_nodes = std::move(float_nodes)});
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  };
  const auto holds = [](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  holds(refusal({}), "there are no data to calibrate with");
  holds(refusal({{{"y", numbers({4, 64})}}}), "set of inputs 1");
  holds(refusal({{{"y", numbers({4, 64})}}}), "no data for the input 'x'");
  holds(refusal({{{"x", numbers({4, 64})}}, {{"x", numbers({9, 64})}}}), "set of inputs 2");
  holds(refusal({{{"x", Tensor::zeros(DType::kInt64, {4, 64})}}}), "set of inputs 1");
  holds(refusal({}, "damaged"), "not a calibration cache");
  holds(refusal({}, std::nullopt, {"tow"}), "tow does not exist in the model");
  holds(refusal({}, "TRT-8601-EntropyCalibration2\nother: 3d000000\n"), "is of another network");
  holds(refusal({{{"x", Tensor::zeros(DType::kFloat32, {4, 64})}}}),
        "the data to calibrate with are constant");
  Tensor nans = numbers({4, 64});
  nans.mutable_data<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  holds(refusal({{{"x", numbers({4, 64})}}, {{"x", nans}}}), "set of inputs 2");
  holds(refusal({{{"x", nans}}}), "1 of the 256 numbers for the input 'x' are NaN");
  OptimizationProfile none;
  none.set_shape("x", {0, 64}, {4, 64}, {8, 64});
  profile = none;
  holds(refusal({{{"x", numbers({0, 64})}}}), "the data for the input 'x' are empty");
}

}  // namespace
}  // namespace assay::calibrate_test
