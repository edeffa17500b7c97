#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::nbits_matmul_test {
namespace {

const NetworkText kFour{
    "(float[6,20] x) => (float[6,2] y)",
    "y = com.microsoft.MatMulNBits <K = 20, N = 2, bits = 4, block_size = 32> (x, w, s, z)",
    integers("uint8", "w", {2, 1, 16}, 251, 0) + ", float[2] s = {0.5, 0.25}, uint8[2] z = {3, 4}"};

TEST(NbitsMatmul, LevelsOfFourBits) { TacticTest("nbits_matmul", kFour).expect_agreement(); }

TEST(NbitsMatmul, RefusesColumnsInAnotherOrder) {
  expect_refusal("nbits_matmul",
                 {"(float[6,20] x, int32[32] g) => (float[6,2] y)",
                  "y = com.microsoft.MatMulNBits <K = 20, N = 2, bits = 4, block_size = 32> (x, w, s, z, g)",
                  kFour.constants},
                 "it says for every column to which block it belongs");
}

TEST(NbitsMatmul, ForgedBlocksAreRefused) {
  TacticTest t("nbits_matmul", kFour);
  t.expect_runs(set("bits", 4));
  t.expect_refused(set("bits", 3), "it has 3 bits in blocks of 32");
  t.expect_refused(set("bits", 8), "does not have 64 elements");
  t.expect_refused(set("block", 48), "in blocks of 48");
  t.expect_refused(set("block", int64_t{1} << 40), "its parameter 'block' is");
  t.expect_refused(set("m", INT64_MAX), "its parameter 'm' is");
  t.expect_refused(set("m", 7), "does not have 140 elements");
  t.expect_refused(set("k", 33), "elements");
  t.expect_refused(set("n", 3), "elements");
  t.expect_refused(set_scratch(64), "it has 64 bytes of scratch memory");
  t.expect_refused([](Plan&, Step& s) { s.inputs.resize(3); }, "inputs");
}

}  // namespace
}  // namespace assay::engine::nbits_matmul_test
