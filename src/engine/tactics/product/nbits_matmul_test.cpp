#include "engine/tactics/tactic_test_util.h"
#include "kernels/nbits/rounded_nbits.h"

namespace assay::engine::nbits_matmul_test {
namespace {

const NetworkText kFour{
    "(float[6,20] x) => (float[6,2] y)",
    "y = com.microsoft.MatMulNBits <K = 20, N = 2, bits = 4, block_size = 32> (x, w, s, z)",
    integers("uint8", "w", {2, 1, 16}, 251, 0) + ", float[2] s = {0.5, 0.25}, uint8[2] z = {3, 4}"};

TEST(NbitsMatmul, LevelsOfFourBits) { TacticTest("nbits_matmul", kFour).expect_agreement(); }

/// The same, where rows may be rounded.
const NetworkText kRounded{
    "(float[3,200] x) => (float[3,2] y)",
    "y = com.microsoft.MatMulNBits <K = 200, N = 2, bits = 4, block_size = 32, accuracy_level = 4> (x, w, s)",
    integers("uint8", "w", {2, 7, 16}, 251, 0) + ", " + floats("s", {14})};

TEST(NbitsMatmul, RoundsRowsWhereTheModelAllowsIt) {
  if (!kernels::has_rounded_nbits(4, 3)) GTEST_SKIP() << "this processor has no instructions for it";
  TacticTest rounded("nbits_matmul", kRounded);
  rounded.set_tolerance(0.01);
  rounded.expect_agreement("rounded");
  rounded.expect_refused(set_scratch(64), "it has 64 bytes of scratch memory");
  rounded.expect_refused(set("rounds", 2), "its parameter 'rounds' is 2");
}

/// Weights behind a DequantizeLinear.
NetworkText product_of(const std::string& type, const std::string& node, const std::string& attributes,
                       const std::string& scale, const std::string& shape = "60,70") {
  // Those of few bits are listed byte by byte.
  const auto bytes = static_cast<int64_t>(storage_bytes(*dtype_from_name(type), 60 * 70));
  const std::string list = integers("uint8", "w", {bytes}, 119, 0);
  return {"(float[2,60] x) => (float[2,70] y)",
          fmt::format("d = DequantizeLinear {} (w, s) {}", attributes, node),
          fmt::format("{}[{}]", type, shape) + list.substr(list.find(']') + 1) + ", " + scale, 25};
}

TEST(NbitsMatmul, WeightsBehindDequantizeLinear) {
  const std::string product = "y = MatMul (x, d)";
  for (const char* type : {"int2", "uint2", "int4", "uint4", "int8", "uint8"}) {
    TacticTest("nbits_matmul", product_of(type, product, "", "float s = {0.5}")).expect_agreement();
    TacticTest("nbits_matmul", product_of(type, product, "<axis = 0>", floats("s", {60}))).expect_agreement();
    TacticTest("nbits_matmul", product_of(type, product, "<axis = 1>", floats("s", {70}))).expect_agreement();
    TacticTest("nbits_matmul", product_of(type, product, "<axis = 0, block_size = 48>", floats("s", {2, 70})))
        .expect_agreement();
    TacticTest("nbits_matmul", product_of(type, "t = Transpose <perm = [1, 0]> (d) y = MatMul (x, t)",
                                          "<axis = 1, block_size = 16>", floats("s", {70, 4}), "70,60"))
        .expect_agreement();
    TacticTest("nbits_matmul", product_of(type, "y = Gemm <transB = 1, alpha = 0.5> (x, d)",
                                          "<axis = 1, block_size = 32>", floats("s", {70, 2}), "70,60"))
        .expect_agreement();
  }
}

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
