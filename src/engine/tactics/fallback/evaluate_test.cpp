#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::evaluate_test {
namespace {

const NetworkText kHardmax{"(float[3,4] x) => (float[3,4] y)", "y = Hardmax (x)"};

TEST(Evaluate, ServesWhatHasNoKernel) {
  TacticTest("evaluate", kHardmax).expect_agreement();
  TacticTest("evaluate", {"(float[5] x, bool[5] m) => (float[n] y)", "y = Compress (x, m)"})
      .expect_agreement();
}

TEST(Evaluate, RefusesNodesTogether) {
  expect_refusal("evaluate", {"(float[3] x) => (float[3] y)", "s = Sigmoid (x) t = Tanh (s) y = Neg (t)"},
                 "it evaluates single nodes");
}

TEST(Evaluate, ForgedNodesAreRefused) {
  TacticTest t("evaluate", kHardmax);
  t.expect_refused([](Plan&, Step& s) { s.networks.clear(); }, "it has 0 networks");
  t.expect_refused([](Plan&, Step& s) { s.inputs.clear(); }, "it has 0 inputs and 1 outputs for");
}

}  // namespace
}  // namespace assay::engine::evaluate_test
