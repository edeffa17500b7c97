#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::few_output_conv_test {
namespace {

const NetworkText kFew{"(float[1,16,12,11] x) => (float[1,2,12,11] y)",
                       "y = Conv <pads = [3, 3, 3, 3]> (x, w, b)",
                       floats("w", {2, 16, 7, 7}) + ", " + floats("b", {2})};

TEST(FewOutputConv, DotProductsAlongChannels) {
  TacticTest("few_output_conv", kFew).expect_agreement("channels_last");
}

TEST(FewOutputConv, RefusesManyResults) {
  expect_refusal(
      "few_output_conv",
      {"(float[1,16,4,4] x) => (float[1,16,4,4] y)", "y = Conv (x, w)", floats("w", {16, 16, 1, 1})},
      "the result has more than a few channels");
}

TEST(FewOutputConv, ForgedWindowsAreRefused) {
  TacticTest t("few_output_conv", kFew);
  t.expect_refused(set_in("kernel", 0, 4), "does not have");
  t.expect_refused(set("depthwise", 1), "it has 2 channels of 16");
}

}  // namespace
}  // namespace assay::engine::few_output_conv_test
