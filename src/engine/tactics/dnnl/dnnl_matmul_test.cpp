#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::dnnl_matmul_test {
namespace {

const NetworkText kStack{"(float[2,3,4] a, float[2,4,5] b) => (float[2,3,5] y)", "y = MatMul (a, b)"};

TEST(DnnlMatmul, StacksAndConstants) {
  TacticTest("dnnl_matmul", kStack).expect_agreement();
  TacticTest("dnnl_matmul",
             {"(float[12,20] a) => (float[12,30] y)", "p = Gemm <alpha = 0.5> (a, w, c) y = Tanh (p)",
              floats("w", {20, 30}) + ", " + floats("c", {30})})
      .expect_agreement();
}

TEST(DnnlMatmul, RefusesOtherTypes) {
  expect_refusal("dnnl_matmul", {"(double[3,4] a, double[4,5] b) => (double[3,5] y)", "y = MatMul (a, b)"},
                 "the operands are not float32");
}

TEST(DnnlMatmul, ForgedMatricesAreRefused) {
  TacticTest t("dnnl_matmul", kStack);
  t.expect_refused(set_in("a_strides", 0, 5), "are not those of a dense tensor");
  t.expect_refused(set_in("out_shape", 0, int64_t{1} << 60), "its sizes are beyond any memory");
  t.expect_refused(set("packed", 2), "its parameter 'packed' is 2");
}

}  // namespace
}  // namespace assay::engine::dnnl_matmul_test
