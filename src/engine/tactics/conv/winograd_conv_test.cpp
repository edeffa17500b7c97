#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::winograd_conv_test {
namespace {

const NetworkText kTiles{"(float[1,64,9,10] x) => (float[1,32,9,10] y)",
                         "c = Conv <pads = [1, 1, 1, 1]> (x, w, b) y = Relu (c)",
                         floats("w", {32, 64, 3, 3}) + ", " + floats("b", {32})};

TEST(WinogradConv, TilesOfTwo) { TacticTest("winograd_conv", kTiles).expect_agreement("2x2"); }

TEST(WinogradConv, RefusesOtherWindows) {
  expect_refusal(
      "winograd_conv",
      {"(float[1,16,4,4] x) => (float[1,16,4,4] y)", "y = Conv (x, w)", floats("w", {16, 16, 1, 1})},
      "its windows are not 3x3");
}

TEST(WinogradConv, ForgedTilesAreRefused) {
  TacticTest t("winograd_conv", kTiles);
  t.expect_refused(set("m", 3), "it has tiles of 3x3");
  t.expect_refused(set("m", 5), "its parameter 'm' is 5");
  t.expect_refused(set_in("kernel", 0, 5), "its windows are not 3x3");
}

}  // namespace
}  // namespace assay::engine::winograd_conv_test
