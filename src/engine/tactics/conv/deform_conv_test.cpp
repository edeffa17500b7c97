#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::deform_conv_test {
namespace {

const NetworkText kDeform{"(float[1,2,4,4] x, float[1,18,4,4] o) => (float[1,3,4,4] y)",
                          "y = DeformConv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w, o)",
                          floats("w", {3, 2, 3, 3}), 19};

TEST(DeformConv, TapsThatAreMoved) { TacticTest("deform_conv", kDeform).expect_agreement(); }

TEST(DeformConv, RefusesOtherTypes) {
  expect_refusal("deform_conv",
                 {"(double[1,2,4,4] x, double[1,8,3,3] o, double[3,2,2,2] w) => (double[1,3,3,3] y)",
                  "y = DeformConv (x, w, o)", "", 19},
                 "the input is not float32");
}

TEST(DeformConv, ForgedWindowsAreRefused) {
  TacticTest t("deform_conv", kDeform);
  t.expect_refused(set("groups", 2), "groups do not make");
  t.expect_refused(set_in("kernel", 0, 30), "does not have");
  t.expect_runs(set_in("strides", 0, 1000));
}

}  // namespace
}  // namespace assay::engine::deform_conv_test
