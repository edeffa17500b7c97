// Runners with requested narrower types, judged in the units of those.
#include "arbiter/asked.h"

#include <cmath>

#include "arbiter/arbiter_test_util.h"
#include "graph/clone.h"
#include "ops/infer.h"
#include "tensor/convert.h"
#include "transform/quantize.h"

namespace assay::asked_test {
namespace {

/// Conv, Relu, Conv, Relu, GlobalAveragePool, Flatten, Gemm: what is computed in 8 bits, and what is not.
struct Network {
  std::shared_ptr<Model> model;
  std::vector<Tensor> feed;
  std::map<std::string, float> scales;  ///< of the inputs of products

  Network() {
    const Tensor x = random_floats({1, 4, 12, 12}, 1);
    TestModel m;
    const std::vector<int64_t> pads{1, 1, 1, 1};
    Value* a = m.node("Relu", "a",
                      {m.node("Conv", "c1", {m.input("x", x.shape()), weights(m, "w1", {8, 4, 3, 3}, 2)},
                              {{"pads", pads}})});
    Value* b =
        m.node("Relu", "b", {m.node("Conv", "c2", {a, weights(m, "w2", {8, 8, 3, 3}, 3)}, {{"pads", pads}})});
    Value* flat = m.node("Flatten", "flat", {m.node("GlobalAveragePool", "mean", {b})});
    model = std::const_pointer_cast<Model>(
        m.with_outputs({m.node("Gemm", "y", {flat, weights(m, "w3", {8, 5}, 4)})}));
    feed = {x};
    for (const NamedStoredTensor& t : results_of(*model, feed)) set_scale(t.name, t.tensor.load());
    set_scale("x", x);
  }
  static Value* weights(TestModel& m, const char* name, Shape shape, unsigned seed) {
    return m.constant(name, random_floats(std::move(shape), seed, -0.3F, 0.3F));
  }
  void set_scale(const std::string& name, const Tensor& t) {
    float most = 0;
    for (const float v : t.span<float>()) most = std::max(most, std::abs(v));
    if (name == "x" || name == "a" || name == "flat") scales[name] = most / 127;
  }

  /// What a backend gives that computes in 8 bits by these scales.
  StoredTensorList results(const std::map<std::string, float>& by, const Fault& fault = {}) const {
    const std::shared_ptr<Model> eighth = clone_model(*model);
    quantize(*eighth, {.scales = by, .float_nodes = {}});
    infer_shapes(*eighth);
    return results_of(*eighth, feed, fault);
  }
  Arbitration judge(const StoredTensorList& results, const NarrowTypes& asked) const {
    const ArbiterCase c{"runner", &results, false, &asked};
    return arbitrate(model, feed, std::span(&c, 1));
  }
  NarrowTypes in_int8() const { return {.int8 = true, .scales = scales}; }
};

std::vector<std::string> wrong(const Arbitration& a) {
  std::vector<std::string> names;
  for (const ArbiterVerdict& o : a.outputs)
    if (o.verdict == Verdict::kWrong) names.push_back(o.output);
  return names;
}

const ArbiterVerdict& verdict_on(const Arbitration& a, const std::string& output) {
  return *std::ranges::find(a.outputs, output, &ArbiterVerdict::output);
}

using Names = std::vector<std::string>;

TEST(Asked, EightBitsAreRightWhereTheyWereAskedFor) {
  const Network n;
  const StoredTensorList eighth = n.results(n.scales);
  EXPECT_EQ(wrong(n.judge(eighth, {})), (Names{"c1", "c2", "y"})) << "nobody asked for it";
  for (NarrowTypes asked : {n.in_int8(), NarrowTypes{.int8 = true}}) {
    const Arbitration a = n.judge(eighth, asked);
    EXPECT_EQ(wrong(a), Names()) << (asked.scales.empty() ? "by the data" : "by the scales");
    EXPECT_EQ(verdict_on(a, "c2").verdict, Verdict::kRounding);
    EXPECT_EQ(verdict_on(a, "c2").computed_in, "int8");
    // Kept for the average that a product reads, where it has a scale.
    EXPECT_EQ(verdict_on(a, "b").computed_in, asked.scales.empty() ? "int8" : "");
  }
}

TEST(Asked, ALayerThatWasToStayInFloatsIsWrongInEightBits) {
  const Network n;
  NarrowTypes asked = n.in_int8();
  asked.float_nodes = {n.model->graph->find_value("c2")->producer()->name};
  EXPECT_EQ(wrong(n.judge(n.results(n.scales), asked)), Names{"c2"});
}

TEST(Asked, AScaleThatDoesNotFitIsWrongAtItsNode) {
  const Network n;
  for (const float factor : {0.125F, 0.5F, 12.0F}) {
    NarrowTypes asked = n.in_int8();
    asked.scales["a"] *= factor;
    EXPECT_EQ(wrong(n.judge(n.results(asked.scales), asked)), Names{"c2"}) << "held and used: " << factor;
  }
  // Used, but not what the engine says of itself.
  std::map<std::string, float> other = n.scales;
  other["a"] *= 16;
  EXPECT_EQ(wrong(n.judge(n.results(other), n.in_int8())), Names{"c2"});
}

TEST(Asked, AZeroPointThatIsOffIsWrongAtItsNode) {
  const Network n;
  const StoredTensorList results = n.results(n.scales, [&](const std::string& name, Tensor& t) {
    if (name != "a/dequantized") return;
    t = convert(t, DType::kFloat32);
    for (float& v : t.mutable_span<float>()) v += 6 * n.scales.at("a");
  });
  // What follows from it leaves the range of the next scale.
  EXPECT_EQ(wrong(n.judge(results, n.in_int8())).at(0), "c2");
  EXPECT_EQ(verdict_on(n.judge(results, n.in_int8()), "c1").verdict, Verdict::kRounding);
}

/// Where the levels are known, a scale other than the declared one is seen, however near it is, and also what
/// rounding to 8 bits would explain.
TEST(Asked, OtherLevelsThanTheDeclaredOnesAreWrong) {
  const Network n;
  NarrowTypes asked = n.in_int8();
  asked.known_levels = true;
  EXPECT_EQ(wrong(n.judge(n.results(n.scales), asked)), Names());
  EXPECT_EQ(wrong(n.judge(results_of(*n.model, n.feed), asked)), Names()) << "float32 was allowed, too";
  for (const float factor : {1.01F, 1.1F, 1.5F, 2.0F}) {
    std::map<std::string, float> other = n.scales;
    other["a"] *= factor;
    EXPECT_EQ(wrong(n.judge(n.results(other), asked)), Names{"c2"}) << factor;
    EXPECT_EQ(wrong(n.judge(n.results(other), n.in_int8())), Names()) << factor << ", levels not known";
  }
  const StoredTensorList one_off = n.results(n.scales, [&](const std::string& name, Tensor& t) {
    if (name != "a/dequantized") return;
    t = convert(t, DType::kFloat32);
    for (float& v : t.mutable_span<float>()) v += n.scales.at("a");
  });
  EXPECT_EQ(wrong(n.judge(one_off, asked)), Names{"c2"}) << "a zero point that is off by one";
}

/// What an error before makes of its numbers is not the error of the next scale.
TEST(Asked, AScaleThatAnErrorBeforeMakesTooSmallInherits) {
  const Network n;
  NarrowTypes asked = n.in_int8();
  asked.known_levels = true;
  const StoredTensorList results = n.results(n.scales, [&](const std::string& name, Tensor& t) {
    if (name != "c1") return;
    for (float& v : t.mutable_span<float>()) v *= 30;
  });
  const Arbitration a = n.judge(results, asked);
  EXPECT_EQ(wrong(a), Names{"c1"});
  EXPECT_EQ(verdict_on(a, "c2").verdict, Verdict::kInherited);
}

/// Between two numbers next to the middle of two levels either level may be taken.
TEST(Asked, TiesOfLevelsAreNoErrors) {
  Network n;
  // Every input but one is a step and a half, or next to that.
  const float step = 0.25F;
  for (float& v : n.feed[0].mutable_span<float>()) v = std::nextafter(1.5F * step, v < 0 ? 0.0F : 1.0F);
  n.feed[0].mutable_span<float>()[0] = 30;
  n.scales["x"] = step;
  NarrowTypes asked = n.in_int8();
  asked.known_levels = true;
  for (const float towards : {1.0F, 2.0F}) {
    const StoredTensorList results = n.results(n.scales, [&](const std::string& name, Tensor& t) {
      if (name != "x/dequantized") return;
      t = convert(t, DType::kFloat32);
      for (float& v : t.mutable_span<float>())
        if (v < 1) v = towards * step;
    });
    EXPECT_EQ(verdict_on(n.judge(results, asked), "c1").verdict, Verdict::kRounding) << towards;
  }
}

/// Half of the roundings to bfloat16 are larger than all but few to float16.
TEST(Asked, ACoarserFormatShowsInTheSizeOfMostErrors) {
  const Network n;
  const auto rounded_to = [&](DType dtype) {
    const std::shared_ptr<Model> narrow = clone_model(*n.model);
    for (const auto& v : narrow->graph->values())
      if (v->is_constant() && v->name() == "w2")
        v->set_tensor(convert(convert(v->tensor().aligned(), dtype), DType::kFloat32));
    return results_of(*narrow, n.feed);
  };
  const NarrowTypes asked{.float16 = true};
  EXPECT_EQ(wrong(n.judge(rounded_to(DType::kFloat16), asked)), Names());
  EXPECT_EQ(wrong(n.judge(rounded_to(DType::kBFloat16), asked)), Names{"c2"});
}

/// Who asks for half of the numbers' bits gets that, and an error of a percent is one.
TEST(Asked, Float16IsJudgedInItsOwnUnits) {
  const Network n;
  const auto rounded = [&](double factor) {
    const std::shared_ptr<Model> half = clone_model(*n.model);
    for (const auto& v : half->graph->values())
      if (v->is_constant())
        v->set_tensor(convert(convert(v->tensor().aligned(), DType::kFloat16), DType::kFloat32));
    return results_of(*half, n.feed, [=](const std::string& name, Tensor& t) {
      if (name != "c2") return;
      for (float& v : t.mutable_span<float>()) v *= static_cast<float>(factor);
    });
  };
  const NarrowTypes asked{.float16 = true};
  EXPECT_EQ(wrong(n.judge(rounded(1), {})), (Names{"c1", "c2", "y"}));
  EXPECT_EQ(wrong(n.judge(rounded(1), asked)), Names());
  EXPECT_EQ(verdict_on(n.judge(rounded(1), asked), "c2").computed_in, "float16");
  EXPECT_EQ(wrong(n.judge(rounded(1.02), asked)), Names{"c2"});
}

TEST(Asked, SharesOfTheFinalErrorAddUp) {
  const Network n;
  std::map<std::string, float> coarse = n.scales;
  coarse["flat"] *= 3;
  NarrowTypes asked = n.in_int8();
  asked.scales = coarse;
  const Arbitration a = n.judge(n.results(coarse), asked);
  ASSERT_FALSE(a.shares.empty());
  double sum = 0;
  for (const ErrorShare& s : a.shares) sum += s.share;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(a.shares.front().output, "y");
  EXPECT_GT(a.shares.front().share, 0.5);
  EXPECT_TRUE(n.judge(n.results(coarse), {}).shares.empty()) << "only where narrow types were asked for";
}

/// Side by side with a runner that was asked for nothing, and in the order of all.
TEST(Asked, RunnersAreJudgedByWhatTheyWereAskedFor) {
  const Network n;
  const StoredTensorList eighth = n.results(n.scales), plain = results_of(*n.model, n.feed);
  const NarrowTypes asked = n.in_int8();
  const ArbiterCase cases[] = {{"int8", &eighth, false, &asked}, {"plain", &plain}};
  const Arbitration a = arbitrate(n.model, n.feed, cases);
  EXPECT_EQ(wrong(a), Names());
  ASSERT_GE(a.outputs.size(), 4U);
  EXPECT_EQ(a.outputs[0].output, a.outputs[1].output);
  EXPECT_EQ(a.outputs[0].runner, "int8");
  EXPECT_EQ(a.outputs[1].runner, "plain");
}

}  // namespace
}  // namespace assay::asked_test
