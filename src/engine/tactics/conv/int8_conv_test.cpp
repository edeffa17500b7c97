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

/// A function of its own levels, while they are in the caches: of products, groups, channels on their own and
/// results that end in another way than by bounds.
TEST(Int8Conv, TablesOfTheResult) {
  const std::string function =
      "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) e = DequantizeLinear (w, v, n) c = Conv "
      "<{}> (d, "
      "e) {} o = DequantizeLinear (p, t, z) f = Abs (o) y = QuantizeLinear (f, u, z)";
  const auto network = [&](const char* attributes, const char* end, const Shape& w) {
    return NetworkText{fmt::format("(float[2,{},9,11] x) => (uint8[2,{},9,11] y)", w[1] == 3 ? 3 : 20, w[0]),
                       fmt::format(fmt::runtime(function), attributes, end),
                       kScales + ", float u = {128}, " + integers("int8", "w", w)};
  };
  const char* const plain = "p = QuantizeLinear (c, t, z)";
  const auto expect = [](const NetworkText& network, const char* variant) {
    TacticTest t("int8_conv", network);
    t.expect_agreement(variant);
    t.expect_refused(set("result_table", std::vector<int64_t>(256, -1)), "'result_table'");
    t.expect_refused(set("result_table", std::vector<int64_t>(255, 1)), "'result_table'");
  };
  expect(network("pads = [1, 1, 1, 1]", plain, {20, 3, 3, 3}), "products");
  expect(network("pads = [1, 1, 1, 1]", "m = Abs (c) p = QuantizeLinear (m, t, z)", {20, 3, 3, 3}),
         "products");
  expect(network("group = 2, pads = [1, 1, 1, 1]", plain, {20, 10, 3, 3}), "groups");
  expect(network("group = 20, pads = [1, 1, 1, 1]", plain, {20, 1, 3, 3}), "depthwise");
}

/// What leads past a product is added to its sums from 8 bits.
TEST(Int8Conv, ResidualsOf8Bits) {
  for (const char* end : {"r = Relu (a) y = QuantizeLinear (r, t, z)", "y = QuantizeLinear (a, t, z)"})
    for (const char* attributes : {"pads = [1, 1, 1, 1]", "group = 20, pads = [1, 1, 1, 1]"}) {
      const bool is_depthwise = attributes[0] == 'g';
      TacticTest t(
          "int8_conv",
          {"(float[2,20,9,11] x, float[2,20,9,11] past) => (uint8[2,20,9,11] y)",
           fmt::format("q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) e = DequantizeLinear (w, "
                       "v, n) c = Conv <{}> (d, e) k = QuantizeLinear (past, s, z) l = DequantizeLinear (k, "
                       "s, z) a = Add (c, l) {}",
                       attributes, end),
           kScales + ", " + integers("int8", "w", {20, is_depthwise ? 1 : 20, 3, 3})});
      t.expect_agreement(is_depthwise ? "depthwise" : "products");
      t.expect_refused(set("operand_zero_points", std::vector<double>{}), "'operand_zero_points'");
    }
}

/// Nothing of this goes into the weights, which would no longer be integers.
TEST(Int8Conv, ConstantsBehindAndTheOperandItself) {
  for (const char* tail : {"r = Neg (c)", "r = Mul (c, f)", "r = Add (c, g)", "r = Add (c, d)",
                           "r = BatchNormalization (c, bs, bb, bm, bv)"})
    TacticTest(
        "int8_conv",
        {"(float[2,8,9,11] x) => (uint8[2,8,9,11] y)",
         fmt::format("q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) e = DequantizeLinear "
                     "(w, v, n) c = Conv <pads = [1, 1, 1, 1]> (d, e) {} y = QuantizeLinear (r, t, z)",
                     tail),
         kScales +
             ", float f = {-0.5}, float[8,1,1] g = {1, 2, 3, 4, 5, 6, 7, 8}, float[8] bs = {1, 2, 1, 2, "
             "1, 2, 1, 2}, float[8] bb = {0, 1, 0, 1, 0, 1, 0, 1}, float[8] bm = {1, 0, 1, 0, 1, 0, 1, "
             "0}, float[8] bv = {4, 4, 4, 4, 4, 4, 4, 4}, " +
             integers("int8", "w", {8, 8, 3, 3})})
        .expect_agreement("products");
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
