#include "engine/specialize/plan_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "graph/import.h"
#include "templates/template_set.h"

namespace assay::engine::plan_builder_test {
namespace {

std::shared_ptr<const Plan> plan_of(const Model& model, bool has_data) {
  BuildConfig config = default_config(2);
  config.has_data = has_data;
  std::vector<Shape> shapes;
  for (const Value* v : model.graph->inputs) shapes.push_back(*known_shape(*v->type.dims));
  return PlanBuilder(model, config).build(shapes);
}

/// What inspect capability asks for needs no packed weights, and is told the same.
TEST(PlanBuilder, APlanWithoutDataIsThePlan) {
  for (const char* name : {"mobilenet-v2", "lstm", "mlp"}) {
    const auto model = build_template(find_template(name), {.weights = TemplateWeights::kShapesOnly});
    const auto full = plan_of(*model, true), bare = plan_of(*model, false);
    ASSERT_EQ(full->steps.size(), bare->steps.size()) << name;
    for (size_t i = 0; i < full->steps.size(); ++i) {
      const Step &a = full->steps[i], &b = bare->steps[i];
      EXPECT_EQ(a.tactic, b.tactic) << name << ", step " << i;
      EXPECT_EQ(a.inputs, b.inputs) << name << ", step " << i;
      EXPECT_EQ(a.outputs, b.outputs) << name << ", step " << i;
      EXPECT_EQ(a.origins, b.origins) << name << ", step " << i;
      EXPECT_EQ(a.refusals.size(), b.refusals.size()) << name << ", step " << i;
    }
    EXPECT_EQ(full->arena_bytes, bare->arena_bytes) << name;
    ASSERT_EQ(full->constants.size(), bare->constants.size()) << name;
    ASSERT_FALSE(full->constants.empty()) << name;
    for (size_t i = 0; i < full->constants.size(); ++i) {
      EXPECT_EQ(full->constants[i].name, bare->constants[i].name) << name;
      EXPECT_TRUE(full->constants[i].tensor.defined()) << name;
      EXPECT_FALSE(bare->constants[i].tensor.defined()) << name;
    }
  }
}

/// An expert that no token was routed to costs nothing, not even a look at its weights.
TEST(PlanBuilder, ResultsWithoutElementsTakeNoStep) {
  const auto model = parse_text(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[N,3] x, float[2,4] z) => (float[M,4] y) <float[3,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "
      "12}> { a = MatMul (x, w) s = Sigmoid (a) b = Mul (a, s) y = Concat <axis = 0> (b, z) }",
      "a test");
  PlanBuilder builder(*model, default_config(1));
  const auto has_product = [](const Plan& plan) {
    return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& s) {
      return s.tactic == "evaluate" || std::any_of(s.origins.begin(), s.origins.end(), [](const auto& name) {
               return name.find('a') != std::string::npos;
             });
    });
  };
  EXPECT_TRUE(has_product(*builder.build(std::vector<Shape>{{5, 3}, {2, 4}})));
  EXPECT_FALSE(has_product(*builder.build(std::vector<Shape>{{0, 3}, {2, 4}})));
}

/// A loop as tf2onnx writes it: weights as a state, a condition that counts. The body has them as constants,
/// which are packed when the plan is made, and what the loop gives has a shape.
TEST(PlanBuilder, WeightsThatALoopCarriesAreConstantsOfItsBody) {
  const auto model = parse_text(
      "<ir_version: 8, opset_import: [\"\" : 15]>\n"
      "g (float[3,1,2] x, float[1,2] s0) => (float[1,2] y, float[N,1,2] z) <float[2,2] k = {1, 2, 3, 4}, "
      "bool go = "
      "{1}, int32 zero = {0}, int64[1] first = {0}> { e = Shape (x) f = Gather (e, first) q = Squeeze (f) n "
      "= Cast "
      "<to = 6> (q) i9, y, n9, k9, u = Loop <body = b (int64 t, bool c, int32 i, float[P,2] s, int32 m, "
      "float[2,2] "
      "w) => (bool d, int32 j, float[Q,2] r, int32 m, float[2,2] w, float[R,2] o) <int32 one = {1}> { j = "
      "Add (i, "
      "one) a = Gather (x, i) p = MatMul (s, w) r = Add (a, p) o = Identity (r) jf = Cast <to = 1> (j) mf = "
      "Cast <to "
      "= 1> (m) d = Less (jf, mf) }> (\"\", go, zero, s0, n, k) z = Relu (u) }",
      "a test");
  const std::vector<Shape> shapes = {{3, 1, 2}, {1, 2}};
  const auto plan = PlanBuilder(*model, default_config(1)).build(shapes);
  EXPECT_FALSE(waits_for_shapes(*plan));
  const PlanValue& stack = plan->values[static_cast<size_t>(plan->outputs[1])];
  ASSERT_TRUE(stack.has_shape);
  EXPECT_EQ(stack.shape, (Shape{3, 1, 2}));
  const auto loop = std::find_if(plan->steps.begin(), plan->steps.end(),
                                 [](const Step& s) { return s.tactic == "control"; });
  ASSERT_NE(loop, plan->steps.end());
  const PlanNetwork& body = plan->networks[static_cast<size_t>(loop->networks.at(1))];
  ASSERT_NE(body.plan, nullptr) << "the body has a plan ahead";
  // Number, condition, counter, state, and x from around it: neither weights nor the count.
  EXPECT_EQ(body.plan->inputs.size(), 5);
}

/// The last plan is that of every build, bit by bit, and the network's large weights are gone with it.
TEST(PlanBuilder, TheLastPlanIsTheSameAndTakesTheWeights) {
  for (const char* name : {"mobilenet-v2", "lstm", "mlp", "voice-activity"}) {
    const auto model = build_template(find_template(name), {});
    std::vector<Shape> shapes;
    for (const Value* v : model->graph->inputs) shapes.push_back(*known_shape(*v->type.dims));
    PlanBuilder builder(*model, default_config(2));
    std::vector<size_t> none;
    const auto first = builder.build(shapes), last = builder.build_last(shapes, {}, none);
    ASSERT_EQ(first->steps.size(), last->steps.size()) << name;
    for (size_t i = 0; i < first->steps.size(); ++i) {
      EXPECT_EQ(first->steps[i].tactic, last->steps[i].tactic) << name << ", step " << i;
      EXPECT_EQ(first->steps[i].inputs, last->steps[i].inputs) << name << ", step " << i;
    }
    ASSERT_EQ(first->constants.size(), last->constants.size()) << name;
    for (size_t i = 0; i < first->constants.size(); ++i) {
      const Tensor &a = first->constants[i].tensor, &b = last->constants[i].tensor;
      ASSERT_EQ(a.nbytes(), b.nbytes()) << name << ": " << first->constants[i].name;
      EXPECT_TRUE(a.nbytes() == 0 || std::memcmp(a.data(), b.data(), a.nbytes()) == 0)
          << first->constants[i].name;
    }
    if (std::string_view(name) == "voice-activity") continue;  // its weights are in the branches of an If
    for (const auto& v : builder.canonical().graph->values())
      EXPECT_LT(v->tensor().nbytes(), size_t{4096}) << name << ": " << v->name() << " is still there";
    for (const Value* v : model->graph->inputs) EXPECT_FALSE(v->tensor().defined());
  }
}

/// How a convolution along rows of any length runs for these lengths in turn; its plans share a memory with
/// one in which it is pinned.
class NearShapes : public testing::Test {
 protected:
  NearShapes() {
    std::string zeros = "0";
    for (int i = 1; i < 16 * 16; ++i) zeros += ", 0";
    model = parse_text(
        "<ir_version: 8, opset_import: [\"\" : 15]>\n"
        "g (float[1,16,N] x) => (float[1,16,N] y) <float[16,16,1] w = {" +
            zeros + "}> { y = Conv (x, w) }",
        "test");
    config.memory = std::make_shared<ChoiceMemory>();
  }

  /// The tactic that runs it, after its candidates were counted.
  std::string tactic_for(PlanBuilder& builder, int64_t length) {
    const auto plan = builder.build(std::vector<Shape>{Shape{1, 16, length}});
    candidates = builder.reports().at(0).candidates.size();
    for (const Step& s : plan->steps)
      if (s.tactic != "reorder") return tactic_text(s);
    return "none";
  }

  std::shared_ptr<Model> model;
  BuildConfig config = default_config(1);
  size_t candidates = 0;
};

TEST_F(NearShapes, RunAsThoseBefore) {
  BuildConfig pinned = config;
  pinned.tactics.pinned = {{"y", "evaluate"}};
  PlanBuilder first(*model, pinned), builder(*model, config);
  EXPECT_EQ(tactic_for(first, 100), "evaluate");
  EXPECT_EQ(tactic_for(builder, 150), "evaluate");
  EXPECT_EQ(candidates, 1U) << "nothing else is asked";
  EXPECT_EQ(tactic_for(builder, 51), "evaluate");
  // Near the length that took it over, but not the one that it was chosen for.
  const std::string other = tactic_for(builder, 250);
  EXPECT_NE(other, "evaluate");
  EXPECT_GT(candidates, 1U);
  EXPECT_EQ(tactic_for(builder, 300), other);
  EXPECT_EQ(candidates, 1U);
  EXPECT_EQ(tactic_for(builder, 100), "evaluate") << "both are known now";
}

TEST_F(NearShapes, AskForTheVariantAlone) {
  BuildConfig pinned = config;
  pinned.tactics.pinned = {{"y", "dnnl_conv:row"}};
  PlanBuilder first(*model, pinned), builder(*model, config);
  EXPECT_EQ(tactic_for(first, 100), "dnnl_conv:row");
  EXPECT_EQ(tactic_for(builder, 120), "dnnl_conv:row");
  EXPECT_EQ(candidates, 1U);
}

TEST_F(NearShapes, AreAskedAnewWhereRulesForbidWhatRanBefore) {
  BuildConfig pinned = config, other = config;
  pinned.tactics.pinned = {{"y", "evaluate"}};
  other.tactics.disabled = {"evaluate"};
  PlanBuilder first(*model, pinned), builder(*model, other);
  EXPECT_EQ(tactic_for(first, 100), "evaluate");
  EXPECT_NE(tactic_for(builder, 100), "evaluate");
}

TEST(ChoiceMemory, FactorsOfTwoAreFar) {
  EXPECT_TRUE(are_near(Shape{3, 64}, Shape{3, 127}));
  EXPECT_TRUE(are_near(Shape{3, 64}, Shape{3, 33}));
  EXPECT_FALSE(are_near(Shape{3, 64}, Shape{3, 128}));
  EXPECT_FALSE(are_near(Shape{3, 64}, Shape{3, 32}));
  EXPECT_FALSE(are_near(Shape{1, 64}, Shape{2, 64})) << "one row is a product with a vector";
  EXPECT_FALSE(are_near(Shape{3, 64}, Shape{64}));
  EXPECT_TRUE(are_near(Shape{0}, Shape{0}));
  EXPECT_FALSE(are_near(Shape{0}, Shape{1}));
  EXPECT_TRUE(are_near(Shape(), Shape()));
}

/// oneDNN takes half a second to describe a convolution along 64,000 samples with channels last: a speech
/// synthesiser, whose sentences are of ever new lengths, would wait for it before each.
TEST(PlanBuilder, LongRowsAreNoQuestionForOneDnn) {
  std::string zeros = "0";
  for (int i = 1; i < 16 * 16 * 3; ++i) zeros += ", 0";
  const auto model = parse_text(
      "<ir_version: 8, opset_import: [\"\" : 15]>\n"
      "g (float[1,16,N] x) => (float[1,16,M] y) <float[16,16,3] w = {" +
          zeros + "}> { y = Conv <pads = [1, 1]> (x, w) }",
      "test");
  PlanBuilder builder(*model, default_config(1));
  const auto offers = [&](int64_t samples) {
    builder.build(std::vector<Shape>{Shape{1, 16, samples}});
    std::set<std::string> names;
    for (const RegionReport& r : builder.reports())
      for (const RegionReport::Line& line : r.candidates) names.insert(line.candidate);
    return names;
  };
  for (const auto& [samples, asks] : {std::pair{1000, true}, {64000, false}}) {
    const std::set<std::string> names = offers(samples);
    EXPECT_EQ(names.contains("dnnl_conv:channels_last"), asks) << samples;
    EXPECT_TRUE(names.contains("panel_conv:float32")) << samples;
    EXPECT_TRUE(names.contains("dnnl_conv:row")) << samples;
  }
}

}  // namespace
}  // namespace assay::engine::plan_builder_test
