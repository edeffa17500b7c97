#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::control_test {
namespace {

const NetworkText kIf{"(bool c, float[3] x) => (float[3] y)",
                      "y = If (c) <then_branch = t () => (float[3] a) { a = Neg (x) }, "
                      "else_branch = e () => (float[3] b) { b = Abs (x) }>"};

TEST(Control, BodiesReadWhatIsAroundThem) {
  TacticTest("control", kIf).expect_agreement();
  TacticTest("control", {"(float[3] x) => (float[3] y)",
                         "y = Loop (n, , x) <body = l (int64 i, bool c, float[3] v) => (bool d, float[3] w) "
                         "{ d = Identity (c) w = Add (v, x) }>",
                         "int64 n = {4}"})
      .expect_agreement();
}

/// It is asked about nodes with a body alone, and takes all of them.
TEST(Control, OtherNodesAreNotItsOwn) {
  const Runtime runtime({.threads = 1});
  const Builder builder(runtime);
  builder.build_engine(NetworkText{"(float[3] x) => (float[3] y)", "y = Hardmax <axis = 0> (x)"}.model(),
                       {.optimization_level = 0});
  EXPECT_EQ(builder.explanation().find("control"), std::string::npos);
}

TEST(Control, ForgedCapturesAreRefused) {
  TacticTest t("control", kIf);
  t.expect_refused(set_in("captures", 0, 2), "its parameter 'captures' holds 2");
  t.expect_refused(set_in("capture_counts", 0, 0), "its parameter 'captures' has 2 numbers, not 1");
  t.expect_refused([](Plan&, Step& s) { s.networks.pop_back(); }, "it has 2 bodies and 2 networks");
}

}  // namespace
}  // namespace assay::engine::control_test
