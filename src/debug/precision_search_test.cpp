#include "debug/precision_search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "assay/error.h"
#include "debug/debug_test_util.h"
#include "debug/engine_search_test_util.h"

namespace assay::debug::precision_search_test {
namespace {

using Names = std::vector<std::string>;

/// Layers whose weights float16 holds well but for those of `hot`, which are beyond its range.
std::shared_ptr<Model> layers(const std::vector<int>& hot, int count = 16) {
  ChainBuilder chain(Shape{4, 8});
  for (int i = 0; i < count; ++i) {
    const bool is_hot = std::find(hot.begin(), hot.end(), i) != hot.end();
    if (is_hot) chain.with_number("Mul", fmt::format("cool{}", i), 1.0F / 131072);
    chain.product(fmt::format("product{}", i), is_hot ? 1e5F : 0.6F);
    chain.node("Tanh", fmt::format("tanh{}", i));
  }
  return chain.done();
}

PrecisionResult search(SearchedEngines& engines, const AccuracyGoal& goal, DType lowered = DType::kFloat16) {
  return search_precision(engines(), {.lowered = lowered, .goal = goal}, engines.observer);
}

Names held(const PrecisionResult& r) {
  Names names;
  for (const size_t i : r.answer.held) names.push_back(r.layers[i].name);
  return names;
}

BuilderConfig narrow(DType type) {
  BuilderConfig config;
  config.fp16 = type == DType::kFloat16;
  config.bf16 = type == DType::kBFloat16;
  config.optimization_level = 0;
  return config;
}

const AccuracyGoal kGoal = AccuracyGoal::parse("40dB");

TEST(PrecisionSearch, LayersBeyondTheRangeOfFloat16AreHeld) {
  for (const std::vector<int>& hot : {std::vector<int>{0}, {7}, {15}, {3, 11}, {2, 3, 14}}) {
    SearchedEngines engines(layers(hot), kGoal, narrow(DType::kFloat16));
    const PrecisionResult r = search(engines, kGoal);
    Names expected;
    for (const int i : hot) expected.push_back(fmt::format("product{}", i));
    EXPECT_EQ(held(r), expected);
    EXPECT_TRUE(kGoal.is_met(r.answer.accuracy)) << r.answer.accuracy.str();
    EXPECT_FALSE(kGoal.is_met(r.all_lowered));
    EXPECT_EQ(r.layers.size(), 32 + hot.size());
    EXPECT_LE(engines.checks(), 16 + 12 * hot.size());
    // The answer as another build takes it.
    const Answer again = engines().ask({.question = "again", .change = [&](BuilderConfig& config) {
                                          config.layer_types = r.types;
                                          config.precision_constraints = r.constraints;
                                        }});
    EXPECT_TRUE(again.passed()) << again.failure;
    ASSERT_GE(r.points.size(), 3U);
    EXPECT_TRUE(r.points.front().held.empty());
    EXPECT_EQ(r.points.back().held.size(), r.layers.size());
    EXPECT_TRUE(std::any_of(r.points.begin(), r.points.end(), [](const auto& p) { return p.is_best; }));
  }
}

TEST(PrecisionSearch, WhereAllMayBeLoweredNoneIsHeld) {
  SearchedEngines engines(layers({}), kGoal, narrow(DType::kFloat16));
  const PrecisionResult r = search(engines, kGoal);
  EXPECT_TRUE(r.answer.held.empty());
  EXPECT_TRUE(r.sensitivities.empty());
  EXPECT_LE(engines.checks(), 4U);
}

TEST(PrecisionSearch, BFloat16HasTheRangeButNotTheDigits) {
  SearchedEngines coarse(layers({5}), AccuracyGoal::parse("20dB"), narrow(DType::kBFloat16));
  EXPECT_TRUE(search(coarse, AccuracyGoal::parse("20dB"), DType::kBFloat16).answer.held.empty());
  const AccuracyGoal fine = AccuracyGoal::parse("rel:0.0005");
  SearchedEngines engines(layers({}), fine, narrow(DType::kBFloat16));
  const PrecisionResult r = search(engines, fine, DType::kBFloat16);
  EXPECT_FALSE(r.answer.held.empty());
  EXPECT_TRUE(fine.is_met(r.answer.accuracy)) << r.answer.accuracy.str();
}

TEST(PrecisionSearch, OperatorsOfWhichAllAreHeldGoByTheirName) {
  ChainBuilder chain(Shape{4, 8});
  for (int i = 0; i < 3; ++i)
    chain.with_number("Div", fmt::format("cool{}", i), 131072)
        .product(fmt::format("product{}", i), 1e5F)
        .node("Tanh", fmt::format("tanh{}", i));
  SearchedEngines engines(chain.done(), kGoal, narrow(DType::kFloat16));
  // Divisors beyond float16's range are held, too.
  const PrecisionResult r = search(engines, kGoal);
  const auto has = [&](const std::string& layers) {
    return std::any_of(r.types.begin(), r.types.end(),
                       [&](const LayerTypes& t) { return t.layers == layers; });
  };
  EXPECT_TRUE(has("*") && has("op:MatMul")) << r.types.size();
}

/// `hot` leaves float16's range, `cold` comes back.
std::shared_ptr<Model> loop_with(const std::string& first_name) {
  return model_from(
      "g (float[4,8] x) => (float[4,8] y)\n<int64 n = {2}, bool c = {1}, float big = {1000000}, float small "
      "= {0.000001}> {\n"
      " [" +
      first_name +
      "] a = Tanh (x)\n"
      " [loop] b = Loop (n, c, a) <body = body (int64 i, bool go, float[4,8] at) => (bool more, float[4,8] "
      "next) {\n"
      "   [same] more = Identity (go)\n   [sin] s = Sin (at)\n   [hot] h = Mul (s, big)\n   [cold] next = "
      "Mul (h, small)\n }>\n"
      " [last] y = Tanh (b)\n}");
}

TEST(PrecisionSearch, LayersOfBodiesAreHeldToo) {
  SearchedEngines engines(loop_with("first"), kGoal, narrow(DType::kFloat16));
  const PrecisionResult r = search(engines, kGoal);
  EXPECT_EQ(held(r), (std::vector<std::string>{"loop::body::hot", "loop::body::cold"}));
  EXPECT_TRUE(r.not_alone.empty());
  EXPECT_EQ(r.layers.size(), 5U);
  EXPECT_TRUE(std::any_of(r.types.begin(), r.types.end(),
                          [](const LayerTypes& t) { return t.layers == "loop::body::*"; }));
}

/// What is asked of a name is asked of all layers that have it.
TEST(PrecisionSearch, BodiesWhoseLayersCannotBeHeldAloneStay) {
  SearchedEngines engines(loop_with("hot"), kGoal, narrow(DType::kFloat16));
  const PrecisionResult r = search(engines, kGoal);
  EXPECT_EQ(r.not_alone,
            (std::vector<std::string>{"loop::body::sin", "loop::body::hot", "loop::body::cold"}));
  EXPECT_EQ(r.layers.size(), 2U);
}

TEST(PrecisionSearch, WhatTheUserSaysOfLayersStands) {
  BuilderConfig config = narrow(DType::kFloat16);
  config.layer_types = {{.layers = "product7", .precision = DType::kFloat32}};
  SearchedEngines engines(layers({7}), kGoal, config);
  EXPECT_TRUE(search(engines, kGoal).answer.held.empty());
}

TEST(PrecisionSearch, WhatCannotBeReachedIsSaid) {
  const AccuracyGoal goal = AccuracyGoal::parse("400dB");
  SearchedEngines engines(layers({1}), goal, narrow(DType::kFloat16));
  EXPECT_THROW(search(engines, goal), Error);
  ChainBuilder moves(Shape{4, 8});
  SearchedEngines nothing(moves.node("Transpose", "t").done(), kGoal, narrow(DType::kFloat16));
  EXPECT_THROW(search(nothing, kGoal), Error);
}

TEST(PrecisionSearch, NoCheckIsMadeTwiceAfterAnInterruption) {
  SearchedEngines engines(layers({3, 11}), kGoal, narrow(DType::kFloat16));
  const PrecisionResult first = search(engines, kGoal);
  EXPECT_GT(engines.checks(), 0U);
  engines.begin();
  EXPECT_EQ(held(search(engines, kGoal)), held(first));
  EXPECT_EQ(engines.checks(), 0U);
}

}  // namespace
}  // namespace assay::debug::precision_search_test
