#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::depthwise_conv_test {
namespace {

const NetworkText kWindows{"(float[1,32,6,5] x) => (float[1,32,6,5] y)",
                           "c = Conv <group = 32, pads = [1, 1, 1, 1]> (x, w) y = HardSwish (c)",
                           floats("w", {32, 1, 3, 3})};

TEST(DepthwiseConv, WindowsOfSingleChannels) {
  TacticTest("depthwise_conv", kWindows).expect_agreement("channels_last");
  TacticTest("depthwise_conv",
             {"(float[2,19,17] x) => (float[2,19,8] y)", "y = Conv <group = 19, strides = [2]> (x, w, b)",
              floats("w", {19, 1, 3}) + ", " + floats("b", {19})})
      .expect_agreement("channels_last");
}

TEST(DepthwiseConv, RefusesGroupsOfSeveral) {
  expect_refusal("depthwise_conv",
                 {"(float[1,8,4,4] x) => (float[1,8,4,4] y)", "y = Conv (x, w)", floats("w", {8, 8, 1, 1})},
                 "its groups are not single channels");
}

TEST(DepthwiseConv, ForgedWindowsAndEpiloguesAreRefused) {
  TacticTest t("depthwise_conv", kWindows);
  t.expect_refused(set_in("kernel", 0, 4), "does not have");
  t.expect_refused(set("depthwise", 0), "it has no windows of single channels");
  t.expect_refused(set("epilogue", std::vector<std::string>{"Exp"}),
                   "what follows its sums is no end that it has");
  TacticTest scaled("depthwise_conv",
                    {kWindows.interface, "c = Conv <group = 32, pads = [1, 1, 1, 1]> (x, w) y = Mul (c, f)",
                     kWindows.constants + ", " + floats("f", {32, 1, 1})});
  scaled.config().optimize = false;  // nothing is folded into the weights
  scaled.expect_refused(
      [](Plan& p, Step& s) {
        p.values[static_cast<size_t>(s.inputs[3])].shape = Shape({31, 1, 1});
      },
      "what follows its sums is no end that it has");
}

}  // namespace
}  // namespace assay::engine::depthwise_conv_test
