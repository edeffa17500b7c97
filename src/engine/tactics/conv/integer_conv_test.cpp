#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::integer_conv_test {
namespace {

const NetworkText kGrouped{"(uint8[1,4,3,3] q, uint8 z) => (float[1,2,3,3] y)",
                           "i = ConvInteger <group = 2> (q, w, z) j = Add (i, b) y = Cast <to = 1> (j)",
                           "int8[2,2,1,1] w = {1, 2, 3, 4}, int32[1,2,1,1] b = {5, 6}"};

const NetworkText kSums{"(int8[1,8,5,5] q) => (int32[1,6,3,3] y)", "y = ConvInteger (q, w)",
                        integers("int8", "w", {6, 8, 3, 3})};

TEST(IntegerConv, ExactSums) {
  TacticTest("integer_conv", kGrouped).expect_agreement("groups");
  TacticTest("integer_conv", kSums).expect_agreement("products");
}

TEST(IntegerConv, RefusesWeightsOfTheRun) {
  expect_refusal("integer_conv",
                 {"(uint8[1,4,3,3] q, int8[2,4,1,1] w) => (int32[1,2,3,3] y)", "y = ConvInteger (q, w)"},
                 "the weights are not constant");
}

TEST(IntegerConv, ForgedOperandsAreRefused) {
  TacticTest t("integer_conv", kGrouped);
  t.expect_refused(set("groups", 1), "elements");
  t.expect_refused(set("groups", 3), "channels have no 3 groups");
  t.expect_refused(set("depthwise", 1), "it has 2 channels of 4");
  t.expect_refused([](Plan&, Step& s) { s.inputs[3] = s.inputs[2]; }, "uint8");
  TacticTest("integer_conv", kSums)
      .expect_refused([](Plan&, Step& s) { s.inputs[3] = s.inputs[0]; }, "it adds to sums that it gives");
  t.expect_refused(set_scratch(64), "it has 64 bytes of scratch memory");
}

}  // namespace
}  // namespace assay::engine::integer_conv_test
