#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::image_conv_test {
namespace {

const NetworkText kImage{"(float[1,3,20,22] x) => (float[1,16,10,11] y)",
                         "c = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w, b) y = Relu (c)",
                         floats("w", {16, 3, 3, 3}) + ", " + floats("b", {16})};

TEST(ImageConv, ImagesOfFewChannels) { TacticTest("image_conv", kImage).expect_agreement("channels_last"); }

TEST(ImageConv, RefusesManyChannels) {
  expect_refusal("image_conv",
                 {"(float[1,8,4,4] x) => (float[1,8,4,4] y)", "y = Conv (x, w)", floats("w", {8, 8, 1, 1})},
                 "the image has more than a few channels");
}

TEST(ImageConv, ForgedWindowsAreRefused) {
  TacticTest t("image_conv", kImage);
  t.expect_refused(set_in("kernel", 0, 4), "does not have");
  t.expect_refused(set("depthwise", 1), "it has 16 channels of 3");
  t.expect_refused(set("threads", 64), "scratch");
}

}  // namespace
}  // namespace assay::engine::image_conv_test
