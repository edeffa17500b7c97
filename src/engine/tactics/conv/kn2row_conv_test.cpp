#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::kn2row_conv_test {
namespace {

const NetworkText kTaps{"(float[1,16,6,7] x) => (float[1,20,6,7] y)",
                        "y = Conv <pads = [1, 1, 1, 1]> (x, w, b)",
                        floats("w", {20, 16, 3, 3}) + ", " + floats("b", {20})};

TEST(Kn2rowConv, TapByTapAndTransposed) {
  TacticTest("kn2row_conv", kTaps).expect_agreement();
  TacticTest("kn2row_conv",
             {"(float[1,12,5,4] x) => (float[1,6,10,8] y)",
              "c = ConvTranspose <strides = [2, 2]> (x, w) y = Relu (c)", floats("w", {12, 6, 2, 2})})
      .expect_agreement();
}

TEST(Kn2rowConv, RefusesOneTap) {
  expect_refusal("kn2row_conv",
                 {"(float[1,8,4,4] x) => (float[1,8,4,4] y)", "y = Conv (x, w)", floats("w", {8, 8, 1, 1})},
                 "it has one tap");
}

TEST(Kn2rowConv, ForgedWindowsAreRefused) {
  TacticTest t("kn2row_conv", kTaps);
  t.expect_refused(set("transposed", 2), "its parameter 'transposed' is 2");
  t.expect_refused(set_in("kernel", 0, 4), "does not have");
  t.expect_refused(set_in("dilations", 1, 0), "its parameter 'dilations' holds 0");
}

}  // namespace
}  // namespace assay::engine::kn2row_conv_test
