#include "engine/tactics/tactic_test_util.h"

#include <set>

namespace assay::engine::view_test {
namespace {

/// Views are steps of no plan.
std::multiset<std::string> steps_of(const NetworkText& network) {
  const Runtime runtime({.threads = 1});
  std::multiset<std::string> names;
  const auto engine = Builder(runtime).build_engine(network.model(), {.optimization_level = 0});
  for (const Step& s : engine->state().saved.plans.at(0).plan->steps) names.insert(s.tactic);
  return names;
}

TEST(View, ShapesChangeWithoutAStep) {
  EXPECT_EQ(steps_of({"(float[2,6] x) => (float[3,4] y)", "a = Relu (x) b = Reshape (a, s) y = Neg (b)",
                      "int64[2] s = {3, 4}"}),
            (std::multiset<std::string>{"pointwise", "pointwise"}));
}

/// Tokens that become an image for a convolution, and its pixels tokens again.
const NetworkText kTokens{
    "(float[1,16,32] x) => (float[1,16,32] y)",
    "a = Relu (x) t = Transpose <perm = [0, 2, 1]> (a) i = Reshape (t, image) c = Conv <group = 32, pads = "
    "[1, "
    "1, 1, 1]> (i, w) f = Reshape (c, flat) u = Transpose <perm = [0, 2, 1]> (f) y = Neg (u)",
    "int64[4] image = {1, 32, 4, 4}, int64[3] flat = {1, 32, 16}, " + floats("w", {32, 1, 3, 3})};

TEST(View, ChannelsThatMoveLastTakeNoStep) {
  EXPECT_EQ(steps_of(kTokens), (std::multiset<std::string>{"depthwise_conv", "pointwise", "pointwise"}));
  TacticTest("depthwise_conv", kTokens).expect_agreement("channels_last");
}

TEST(View, OtherOrdersOfAxesAreNone) {
  expect_refusal("view",
                 {"(float[1,4,6,5] x) => (float[1,5,6,4] y)", "y = Transpose <perm = [0, 3, 2, 1]> (x)"},
                 "it does not move channels last, or back");
  expect_refusal("view", {"(float[4,6,5] x) => (float[5,6,4] y)", "y = Transpose <perm = [2, 1, 0]> (x)"},
                 "its axes are not those of an image");
}

TEST(View, RefusesTexts) {
  expect_refusal("view", {"(string[2,6] x) => (string[12] y)", "y = Reshape (x, s)", "int64[1] s = {12}"},
                 "strings have no memory to look at");
}

TEST(View, AStepThatClaimsToBeOneIsRefused) {
  TacticTest("pointwise", {"(float[3] x) => (float[3] y)", "y = Neg (x)"})
      .expect_refused([](Plan&, Step& s) { s.tactic = "view"; }, "this build has no tactic named");
}

}  // namespace
}  // namespace assay::engine::view_test
