#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::depthwise_conv1d_test {
namespace {

const NetworkText kFilters{"(float[1,4,9] x) => (float[1,4,9] y)",
                           "y = Conv <group = 4, pads = [1, 1]> (x, w)", floats("w", {4, 1, 3})};

TEST(DepthwiseConv1d, FiltersAlongRows) {
  TacticTest("depthwise_conv1d", kFilters).expect_agreement();
  TacticTest("depthwise_conv1d",
             {"(float[2,24,37] x) => (float[2,24,37] y)",
              "c = Conv <group = 24, pads = [6, 6], dilations = [3]> (x, w, b) s = Add (c, x) "
              "y = Relu (s)",
              floats("w", {24, 1, 5}) + ", " + floats("b", {24})})
      .expect_agreement();
}

TEST(DepthwiseConv1d, RefusesStrides) {
  expect_refusal("depthwise_conv1d",
                 {"(float[1,4,9] x) => (float[1,4,4] y)", "y = Conv <group = 4, strides = [2]> (x, w)",
                  floats("w", {4, 1, 3})},
                 "its stride is not 1");
}

TEST(DepthwiseConv1d, ForgedSizesAreRefused) {
  TacticTest t("depthwise_conv1d", kFilters);
  t.expect_refused(set_in("sizes", 0, 8), "does not have");
  t.expect_refused(set_in("sizes", 1, 3), "4 signals have 3 filters");
  t.expect_refused(set_in("sizes", 4, 4), "does not have 16 elements");
  t.expect_refused(set_in("sizes", 5, 0), "its size 5 is 0");
  t.expect_refused(set_in("sizes", 5, 513), "reach over 1026 samples");
}

}  // namespace
}  // namespace assay::engine::depthwise_conv1d_test
