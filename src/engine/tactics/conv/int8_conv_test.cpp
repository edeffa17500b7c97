#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::int8_conv_test {
namespace {

/// Scales are powers of two, so that sums and quotients are exact in the reference, too.
const std::string kScales =
    "float s = {0.25}, uint8 z = {100}, float t = {64}, float v = {0.125}, int8 n = {0}";

const NetworkText kQuantized{
    "(float[2,3,9,11] x) => (uint8[2,20,9,11] y)",
    "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) "
    "e = DequantizeLinear (w, v, n) c = Conv <pads = [1, 1, 1, 1]> (d, e) r = Relu (c) "
    "y = QuantizeLinear (r, t, z)",
    kScales + ", " + integers("int8", "w", {20, 3, 3, 3})};

TEST(Int8Conv, BetweenDequantizeAndQuantize) {
  TacticTest("int8_conv", kQuantized).expect_agreement("products");
}

TEST(Int8Conv, RefusesFloats) {
  expect_refusal("int8_conv",
                 {"(float[1,8,4,4] x) => (float[1,8,4,4] y)", "y = Conv (x, w)", floats("w", {8, 8, 1, 1})},
                 "the input does not come from a DequantizeLinear");
}

TEST(Int8Conv, ForgedZeroPointsAreRefused) {
  TacticTest t("int8_conv", kQuantized);
  t.expect_refused(set("x_zero_point", 256), "its parameter 'x_zero_point' is 256");
  t.expect_refused(set("groups", 2), "channels have no 2 groups");
  t.expect_refused(set_in("kernel", 0, 5), "bytes of scratch memory");
  t.expect_refused(set_scratch(64), "it has 64 bytes of scratch memory");
}

}  // namespace
}  // namespace assay::engine::int8_conv_test
