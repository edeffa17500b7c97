#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::normalize_test {
namespace {

const NetworkText kLayer{"(float[3,4] x) => (float[3,4] y)", "y = LayerNormalization (x, s)",
                         floats("s", {4})};

TEST(Normalize, LayersAndInstances) {
  TacticTest("normalize", kLayer).expect_agreement();
  TacticTest("normalize", {"(float[2,3,4,5] x) => (float[2,3,4,5] y)", "y = InstanceNormalization (x, s, b)",
                           floats("s", {3}) + ", " + floats("b", {3})})
      .expect_agreement();
}

TEST(Normalize, RefusesToGiveTheMean) {
  expect_refusal("normalize",
                 {"(float[3,4] x) => (float[3,4] y, float[3,1] m)", "y, m = LayerNormalization (x, s)",
                  floats("s", {4})},
                 "mean or deviation is wanted too");
}

TEST(Normalize, ForgedPeriodsAreRefused) {
  TacticTest t("normalize", kLayer);
  t.expect_refused(set("per_row_period", 9), "does not have 9 elements");
  t.expect_refused(set("rows", 0), "its parameter 'rows' is 0");
}

}  // namespace
}  // namespace assay::engine::normalize_test
