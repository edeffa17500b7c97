#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::int8_matmul_test {
namespace {

/// Scales are powers of two, so that sums and quotients are exact in the reference, too.
const std::string kScales =
    "float s = {0.25}, uint8 z = {100}, float t = {64}, float v = {0.125}, int8 n = {0}";

const NetworkText kQuantized{"(float[7,33] x) => (uint8[7,18] y)",
                             "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) "
                             "e = DequantizeLinear (w, v, n) c = MatMul (d, e) y = QuantizeLinear (c, t, z)",
                             kScales + ", " + integers("int8", "w", {33, 18})};

TEST(Int8Matmul, BetweenDequantizeAndQuantize) { TacticTest("int8_matmul", kQuantized).expect_agreement(); }

TEST(Int8Matmul, RefusesFloats) {
  expect_refusal("int8_matmul",
                 {"(float[7,4] x) => (float[7,5] y)", "y = MatMul (x, w)", floats("w", {4, 5})},
                 "the input does not come from a DequantizeLinear");
}

TEST(Int8Matmul, ForgedSizesAreRefused) {
  TacticTest t("int8_matmul", kQuantized);
  t.expect_refused(set("m", 8), "does not have");
  t.expect_refused(set("k", 1 << 20), "its parameter 'k' is 1048576");
  t.expect_refused(set("x_zero_point", -1), "its parameter 'x_zero_point' is -1");
}

}  // namespace
}  // namespace assay::engine::int8_matmul_test
