#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::integer_matmul_test {
namespace {

const NetworkText kProduct{"(uint8[3,4] q, uint8 z) => (int32[3,5] y)", "y = MatMulInteger (q, w, z)",
                           integers("int8", "w", {4, 5})};

TEST(IntegerMatmul, ExactSums) { TacticTest("integer_matmul", kProduct).expect_agreement(); }

TEST(IntegerMatmul, RefusesAZeroPointForEachRow) {
  expect_refusal("integer_matmul",
                 {"(uint8[3,4] q, uint8[3] z) => (int32[3,5] y)", "y = MatMulInteger (q, w, z)",
                  integers("int8", "w", {4, 5})},
                 "the left operand has several zero points");
}

TEST(IntegerMatmul, ForgedSizesAreRefused) {
  TacticTest t("integer_matmul", kProduct);
  t.expect_refused(set("m", 4), "does not have 16 elements");
  t.expect_refused(set("n", 300), "elements");
  t.expect_refused(set("k", 1 << 20), "its parameter 'k' is 1048576");
  t.expect_refused(set_scratch(64), "it has 64 bytes of scratch memory");
  t.expect_refused([](Plan&, Step& s) { std::swap(s.inputs[0], s.inputs[2]); }, "elements");
}

}  // namespace
}  // namespace assay::engine::integer_matmul_test
