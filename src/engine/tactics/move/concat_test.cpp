#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::concat_test {
namespace {

const NetworkText kColumns{"(float[3,2] a, float[3,4] b) => (float[3,6] y)", "y = Concat <axis = 1> (a, b)"};

TEST(Concat, AlongEveryAxis) {
  TacticTest("concat", kColumns).expect_agreement();
  TacticTest images("concat", {"(float[1,16,3,3] a, float[1,32,3,3] b) => (float[1,48,3,3] y)",
                               "y = Concat <axis = 1> (a, b)"});
  images.expect_agreement("row");
  images.expect_agreement("channels_last");
  // Parts that are computed where they belong.
  TacticTest("concat", {"(float[2,3] a, float[4,3] b) => (float[6,3] y)",
                        "c = Relu (a) d = Relu (b) y = Concat <axis = 0> (c, d)"})
      .expect_agreement();
}

TEST(Concat, RefusesPartsOfUnknownExtent) {
  expect_refusal("concat",
                 {"(float[3,2] a, bool[3] m) => (float[n,2] y)",
                  "i = Compress <axis = 0> (a, m) y = Concat <axis = 0> (a, i)"},
                 "the shape is not known before the run");
}

TEST(Concat, ForgedPlacesAreRefused) {
  TacticTest t("concat", kColumns);
  t.expect_refused(set_in("offsets", 1, 3), "is not a part of (3, 6)");
  t.expect_refused(set("axis", 2), "its parameter 'axis' is 2");
}

}  // namespace
}  // namespace assay::engine::concat_test
