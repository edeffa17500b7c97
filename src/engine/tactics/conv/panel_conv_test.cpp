#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::panel_conv_test {
namespace {

const NetworkText kWindow{"(float[2,5,9,11] x) => (float[2,20,5,11] y)",
                          "c = Conv <pads = [1, 1, 1, 1], strides = [2, 1]> (x, w, b) y = Relu (c)",
                          floats("w", {20, 5, 3, 3}) + ", " + floats("b", {20})};

TEST(PanelConv, GatheredRowsAndPixels) {
  TacticTest("panel_conv", kWindow).expect_agreement("float32");
  TacticTest("panel_conv",
             {"(float[1,16,6,5] x) => (float[1,33,6,5] y)", "y = Conv (x, w)", floats("w", {33, 16, 1, 1})})
      .expect_agreement("float32");
}

TEST(PanelConv, RefusesGroups) {
  expect_refusal(
      "panel_conv",
      {"(float[1,8,4,4] x) => (float[1,8,4,4] y)", "y = Conv <group = 2> (x, w)", floats("w", {8, 4, 1, 1})},
      "it has groups of several channels");
}

TEST(PanelConv, ForgedWindowsAreRefused) {
  TacticTest t("panel_conv", kWindow);
  t.expect_refused(set_in("kernel", 0, 4), "bytes of scratch memory");
  t.expect_refused(set("groups", 2), "its parameter 'groups' is 2");
  t.expect_refused(set("type", std::string("int8")), "it has panels of 'int8'");
}

}  // namespace
}  // namespace assay::engine::panel_conv_test
