#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::gemv_test {
namespace {

const NetworkText kRow{"(float[1,16] x) => (float[1,8] y)", "y = MatMul (x, w)", floats("w", {16, 8})};

TEST(Gemv, AFewRowsTimesAConstant) {
  TacticTest("gemv", kRow).expect_agreement();
  TacticTest("gemv", {"(float[3,200] x) => (float[3,70] y)", "p = Gemm <transB = 1> (x, w, b) y = Relu (p)",
                      floats("w", {70, 200}) + ", " + floats("b", {70})})
      .expect_agreement();
}

TEST(Gemv, RefusesManyRows) {
  expect_refusal("gemv", {"(float[64,16] x) => (float[64,8] y)", "y = MatMul (x, w)", floats("w", {16, 8})},
                 "the left operand has many rows");
}

TEST(Gemv, ForgedSizesAreRefused) {
  TacticTest t("gemv", kRow);
  t.expect_refused(set("n", 9), "does not have 144 elements");
  t.expect_refused(set("m", -1), "its parameter 'm' is -1");
  t.expect_refused(set("parts", 17), "its parameter 'parts' is 17");
}

}  // namespace
}  // namespace assay::engine::gemv_test
