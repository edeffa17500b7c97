#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::dnnl_conv_test {
namespace {

const NetworkText kConv{"(float[1,8,4,4] x) => (float[1,16,4,4] y)", "y = Conv <pads = [1, 1, 1, 1]> (x, w)",
                        floats("w", {16, 8, 3, 3})};

TEST(DnnlConv, LayoutsAndEpilogues) {
  TacticTest t("dnnl_conv", kConv);
  t.expect_agreement();
  t.expect_agreement("row");
  TacticTest("dnnl_conv", {"(float[2,32,14,14] x, float[2,32,14,14] z) => (float[2,32,14,14] y)",
                           "c = Conv <pads = [2, 2, 2, 2]> (x, w, b) s = Add (c, z) y = Relu (s)",
                           floats("w", {32, 32, 5, 5}) + ", " + floats("b", {32})})
      .expect_agreement();
}

/// Whether oneDNN applies them or a step of their own does.
TEST(DnnlConv, ActivationsThatFollowAreApplied) {
  for (const std::string op :
       {"Abs", "Elu", "Gelu", "Gelu <approximate = \"tanh\">", "HardSigmoid", "HardSwish", "LeakyRelu",
        "Mish", "Relu", "Sigmoid", "Softplus", "Swish", "Tanh"}) {
    SCOPED_TRACE(op);
    TacticTest("dnnl_conv",
               {"(float[1,8,4,4] x) => (float[1,16,4,4] y)",
                "c = Conv <pads = [1, 1, 1, 1]> (x, w) y = " + op + " (c)", floats("w", {16, 8, 3, 3}), 24})
        .expect_agreement();
  }
}

TEST(DnnlConv, RefusesWeightsOfTheRun) {
  expect_refusal("dnnl_conv",
                 {"(float[1,8,4,4] x, float[16,8,3,3] w) => (float[1,16,2,2] y)", "y = Conv (x, w)"},
                 "the weights are not constant");
}

TEST(DnnlConv, ForgedWindowsAreRefused) {
  TacticTest t("dnnl_conv", kConv);
  t.expect_refused(set_in("strides", 0, 0), "its parameter 'strides' holds 0");
  t.expect_refused(set_in("strides", 0, 2), "oneDNN has no such kernel");
  t.expect_refused(set_in("weights", 1, 9), "weights (16, 9, 3, 3) are not for");
  t.expect_refused(set_in("weights", 2, 300), "the packed weights are fewer");
  t.expect_refused(set("threads", 0), "its parameter 'threads' is 0");
}

}  // namespace
}  // namespace assay::engine::dnnl_conv_test
