#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::resize_test {
namespace {

const NetworkText kNearest{"(float[1,1,2,2] x) => (float[1,1,4,4] y)",
                           "y = Resize <mode = \"nearest\"> (x, , s)", "float[4] s = {1, 1, 2, 2}"};

TEST(Resize, NearestAndLinear) {
  TacticTest("resize", kNearest).expect_agreement("row");
  TacticTest("resize", {"(float[1,16,4,5] x) => (float[1,16,7,10] y)",
                        "y = Resize <mode = \"linear\"> (x, , , s)", "int64[4] s = {1, 16, 7, 10}"})
      .expect_agreement("channels_last");
}

TEST(Resize, PixelsOfEightBitsAreSelected) {
  const NetworkText nearest{"(uint8[1,3,2,3] x) => (uint8[1,3,4,6] y)",
                            "y = Resize <mode = \"nearest\"> (x, , s)", "float[4] s = {1, 1, 2, 2}"};
  TacticTest("resize", nearest).expect_agreement("row");
  TacticTest("resize", nearest).expect_agreement("channels_last");
  expect_refusal("resize",
                 {"(uint8[1,1,2,2] x) => (uint8[1,1,4,4] y)", "y = Resize <mode = \"linear\"> (x, , s)",
                  "float[4] s = {1, 1, 2, 2}"},
                 "uint8 is computed with");
}

/// Between two quantizations; pixels from a Transpose, so that channels are last.
const NetworkText kQuantized{
    "(int8[2,4,5,24] x) => (uint8[2,24,7,10] y)",
    "t = Transpose <perm = [0, 3, 1, 2]> (x) d = DequantizeLinear (t, s, zx) "
    "r = Resize <mode = \"linear\"> (d, , , sizes) y = QuantizeLinear (r, q, zy)",
    "float s = {0.37}, float q = {0.25}, int8 zx = {-9}, uint8 zy = {30}, int64[4] sizes = {2, 24, 7, 10}"};

TEST(Resize, EightBitsAreInterpolated) {
  TacticTest t("resize", kQuantized);
  t.set_tolerance(1.01 / 100);  // a level, next to a tie
  t.expect_agreement("channels_last_int8");
}

TEST(Resize, Forged8BitsAreRefused) {
  TacticTest t("resize", kQuantized);
  t.expect_refused(set("y_zero_point", -1), "its parameter 'y_zero_point' is -1");
  t.expect_refused(set("y_scale", 0.0), "its scales are");
  t.expect_refused(set("x_scale", std::string("none")), "it makes uint8 of int8");
}

TEST(Resize, RefusesMoreThanTheInnerAxes) {
  expect_refusal(
      "resize",
      {"(float[1,2,4,4] x) => (float[1,4,4,4] y)", "y = Resize (x, , s)", "float[4] s = {1, 2, 1, 1}"},
      "more than the two inner axes are resized");
}

TEST(Resize, ForgedTapsAreRefused) {
  TacticTest t("resize", kNearest);
  t.expect_refused(set_in("rows_index", 0, 2), "its parameter 'rows_index' holds 2");
  t.expect_refused(set("columns_taps", 2), "its parameter 'columns_index' has 4 numbers, not 8");
}

}  // namespace
}  // namespace assay::engine::resize_test
