#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::panel_matmul_test {
namespace {

const NetworkText kProduct{"(float[40,20] x) => (float[40,33] y)", "p = Gemm (x, w, b) y = Tanh (p)",
                           floats("w", {20, 33}) + ", " + floats("b", {33})};

TEST(PanelMatmul, ConstantMatricesInPanels) {
  TacticTest("panel_matmul", kProduct).expect_agreement("float32");
}

TEST(PanelMatmul, RefusesFactors) {
  expect_refusal(
      "panel_matmul",
      {"(float[40,20] x) => (float[40,33] y)", "y = Gemm <alpha = 0.5> (x, w)", floats("w", {20, 33})},
      "alpha is not 1");
}

TEST(PanelMatmul, ForgedPanelsAreRefused) {
  TacticTest t("panel_matmul", kProduct);
  t.expect_refused(set("m", 41), "does not have 820 elements");
  t.expect_refused(set("k", 0), "its parameter 'k' is 0");
  t.expect_refused(set("type", std::string("int7")), "it has panels of 'int7'");
  t.expect_refused(set("rounds", 2), "its parameter 'rounds' is 2");
}

}  // namespace
}  // namespace assay::engine::panel_matmul_test
