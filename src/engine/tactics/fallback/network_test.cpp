#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::network_test {
namespace {

/// What follows a Compress has no shapes before the run.
const NetworkText kBehind{"(float[5] x, bool[5] m) => (float[n] y)",
                          "c = Compress (x, m) e = Exp (c) s = Add (e, c) y = Sqrt (s)"};

TEST(Network, ShapesThatTheRunTells) { TacticTest("network", kBehind).expect_agreement(); }

/// Few exact elements: the first run evaluates them, the second, of the same shapes, has a plan.
TEST(Network, FewElementsAreTheSameWithAndWithoutAPlan) {
  TacticTest("network",
             {"(float[5] x, bool[5] m) => (float[n] y, bool[n] less)",
              "c = Compress (x, m) s = Add (c, c) t = Mul (s, c) y = Sub (t, x0) less = Less (y, c)",
              "float[1] x0 = {0.3}"})
      .expect_agreement();
}

TEST(Network, ForgedNetworksAreRefused) {
  TacticTest t("network", kBehind);
  t.expect_refused([](Plan&, Step& s) { s.networks.clear(); }, "it has 0 networks");
  t.expect_refused(leave_out(0), "its input 0 is left out");
}

}  // namespace
}  // namespace assay::engine::network_test
