// Build settings also apply to plans that are made later, for other shapes.
#include <gtest/gtest.h>

#include <set>

#include "assay/builder.h"
#include "engine/objects/state.h"
#include "ops/infer.h"

namespace assay::saved_rules_test {
namespace {

class SavedRulesTest : public testing::Test {
 protected:
  /// y = Relu(x * w + b) + 0, with an open number of rows.
  SavedRulesTest() {
    model->opsets = {{"", 18}};
    Graph& g = *model->graph;
    Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim::symbol("rows"), Dim(64)}));
    Tensor weights = Tensor::zeros(DType::kFloat32, Shape{64, 32});
    for (float& v : weights.mutable_span<float>()) v = 0.3F;
    Value* product = g.add_value("product");
    g.add_node("MatMul", {x, g.add_constant("w", weights)}, {product}, {}, "product");
    Value* y = g.add_value("y");
    g.add_node("Relu", {product}, {y}, {}, "relu");
    g.outputs = {y};
    infer_shapes(*model);
  }

  /// Steps of the plan for 5 rows, which a profile for 40 rows leaves to the runtime, by tactic; after
  /// saving.
  std::multiset<std::string> later_steps(BuilderConfig config) {
    OptimizationProfile profile;
    profile.set_shape("x", {1, 64}, {40, 64}, {64, 64});
    config.optimization_level = 0;
    config.profiles = {profile};
    const std::string bytes = Builder(runtime).build_serialized_network(model, config);
    engine::SavedEngine saved =
        engine::parse_engine(bytes, nullptr, "the plan", engine::cpu_target()->fingerprint());
    saved.preferences.clear();  // which alone would lead to the same steps
    const std::vector<Tensor> inputs = {Tensor::zeros(DType::kFloat32, Shape{5, 64})};
    const auto ready = make_specializer(*runtime.state(), saved)->plan_for(inputs);
    std::multiset<std::string> names;
    for (const engine::Step& s : ready->plan->steps) names.insert(engine::tactic_text(s));
    return names;
  }

  /// Which of the two ways to run the product is the usual one depends on the processor.
  static std::string other_way(const std::string& usual) {
    const std::string ways[] = {"dnnl_matmul", "panel_matmul:float32"};
    EXPECT_TRUE(usual == ways[0] || usual == ways[1]) << usual;
    return usual == ways[0] ? ways[1] : ways[0];
  }

  std::shared_ptr<Model> model = std::make_shared<Model>();
  Runtime runtime{{.threads = 1}};
  using Names = std::multiset<std::string>;
};

TEST_F(SavedRulesTest, DisabledTactics) {
  const Names usual = later_steps({});
  ASSERT_EQ(usual.size(), 1U);
  EXPECT_EQ(later_steps({.disabled_tactics = {*usual.begin()}}), (Names{other_way(*usual.begin())}));
}

TEST_F(SavedRulesTest, PinnedTactics) {
  EXPECT_EQ(later_steps({.pinned_tactics = {{"product", "panel_matmul:float32"}}}),
            (Names{"panel_matmul:float32"}));
}

TEST_F(SavedRulesTest, Precisions) {
  // The products only exist where the processor multiplies bfloat16.
  EXPECT_EQ(later_steps({.bf16 = true,
                         .disabled_tactics = {"dnnl_matmul", "panel_matmul:float32",
                                              "panel_matmul:bfloat16_products"}}),
            (Names{"panel_matmul:bfloat16"}));
}

TEST_F(SavedRulesTest, ScratchMemory) {
  // Tiles with an epilogue take some.
  EXPECT_THROW(later_steps({.workspace_limit = 0, .disabled_tactics = {"dnnl_matmul", "gemv", "evaluate"}}),
               Error);
  EXPECT_EQ(later_steps({.workspace_limit = 0, .disabled_tactics = {"dnnl_matmul", "gemv"}})
                .count("panel_matmul:float32"),
            0U);
}

TEST_F(SavedRulesTest, Passes) {
  // Two transpositions that one pass takes away.
  Graph& g = *model->graph;
  Value* once = g.add_value("once");
  Value* twice = g.add_value("twice");
  g.add_node("Transpose", {g.outputs[0]}, {once}, {}, "once");
  g.add_node("Transpose", {once}, {twice}, {}, "twice");
  g.outputs = {twice};
  infer_shapes(*model);
  Names unmerged = later_steps({});
  EXPECT_EQ(unmerged.size(), 1U);
  unmerged.insert({"strided_copy:row", "strided_copy:row"});
  EXPECT_EQ(later_steps({.optimize = false}), unmerged);
  EXPECT_EQ(later_steps({.max_edits = 0}), unmerged);
}

/// Of all stages together, not of each.
TEST_F(SavedRulesTest, EditsAreCountedOverAllStages) {
  Graph& g = *model->graph;
  Value* at = g.outputs[0];
  const auto append = [&](const char* op, const std::string& name, std::vector<Value*> inputs) {
    Value* y = g.add_value(name);
    g.add_node(op, std::move(inputs), {y}, {}, name);
    at = y;
  };
  // Some go before shapes are known, others become other nodes once they are.
  for (int i = 0; i < 3; ++i) {
    append("Identity", fmt::format("identity{}", i), {at});
    append("Transpose", fmt::format("one_way{}", i), {at});
    append("Transpose", fmt::format("and_back{}", i), {at});
    append("HardSwish", fmt::format("formula{}", i), {at});
  }
  g.outputs = {at};
  infer_shapes(*model);
  const auto edits = [&](int64_t most) {
    BuilderConfig config{.optimization_level = 0, .max_edits = most};
    OptimizationProfile profile;
    profile.set_shape("x", {1, 64}, {40, 64}, {64, 64});
    config.profiles = {profile};
    const Builder builder(runtime);
    builder.build_engine(model, config);
    int64_t sum = 0, stages = 0;
    const std::string text = builder.summary();
    for (size_t at_text = 0; (at_text = text.find(" edit(s)", at_text)) != std::string::npos; ++at_text) {
      sum += std::stoll(text.substr(text.rfind(' ', at_text - 1)));
      ++stages;
    }
    EXPECT_GE(stages, most > 8 ? 2 : 0) << text;
    return sum;
  };
  const int64_t all = edits(1000);
  EXPECT_GT(all, 8);
  for (int64_t most = 0; most <= all; ++most) EXPECT_EQ(edits(most), most);
}

/// Plans for other shapes follow those that are saved as far as these are near; where weights were left out,
/// and the plans with them, in any case.
TEST_F(SavedRulesTest, OtherShapesFollowNearPlans) {
  const std::string other = other_way(*later_steps({}).begin());
  OptimizationProfile profile;
  profile.set_shape("x", {1, 64}, {40, 64}, {64, 64});
  BuilderConfig config{.optimization_level = 0};
  config.profiles = {profile};
  config.pinned_tactics = {{"product", other}};
  const std::string bytes = Builder(runtime).build_serialized_network(model, config);
  engine::SavedEngine saved =
      engine::parse_engine(bytes, nullptr, "the plan", engine::cpu_target()->fingerprint());
  saved.rules.pinned.clear();
  const auto follows = [&](int64_t rows) {
    const std::vector<Tensor> inputs = {Tensor::zeros(DType::kFloat32, Shape{rows, 64})};
    const auto ready = make_specializer(*runtime.state(), saved)->plan_for(inputs);
    return std::any_of(ready->plan->steps.begin(), ready->plan->steps.end(),
                       [&](const engine::Step& s) { return engine::tactic_text(s) == other; });
  };
  EXPECT_TRUE(follows(30));
  EXPECT_FALSE(follows(5));
  saved.plans.clear();
  EXPECT_TRUE(follows(30));
  EXPECT_TRUE(follows(5));
}

/// What was packed for the plan of the profile serves those for other shapes, whose network is the builder's.
TEST_F(SavedRulesTest, OtherShapesShareWeights) {
  OptimizationProfile profile;
  profile.set_shape("x", {1, 64}, {40, 64}, {64, 64});
  BuilderConfig config{.optimization_level = 0};
  config.profiles = {profile};
  const auto engine = Builder(runtime).build_engine(model, config);
  const auto packed = [&](int64_t rows) {
    const std::vector<Tensor> inputs = {Tensor::zeros(DType::kFloat32, Shape{rows, 64})};
    std::vector<const void*> places;
    const auto ready = engine->state().plans->plan_for(inputs);
    for (const engine::PlanConstant& c : ready->plan->constants)
      if (c.is_packed()) places.push_back(c.tensor.data());
    return places;
  };
  const std::vector<const void*> first = packed(40);
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(packed(41), first);
  EXPECT_EQ(engine->state().plans->plan_count(), 2U);
}

}  // namespace
}  // namespace assay::saved_rules_test
