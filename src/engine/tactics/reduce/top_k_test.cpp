#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::top_k_test {
namespace {

const NetworkText kTwo{"(float[3,40] x) => (float[3,2] y, int64[3,2] i)", "y, i = TopK (x, k)",
                       "int64[1] k = {2}"};

TEST(TopK, SelectsTheLargestAndTheSmallest) {
  TacticTest("top_k", kTwo).expect_agreement();
  TacticTest("top_k", {"(float[5,7] x) => (float[3,7] y, int64[3,7] i)",
                       "y, i = TopK <axis = 0, largest = 0> (x, k)", "int64[1] k = {3}"})
      .expect_agreement();
}

TEST(TopK, RefusesACountOfTheRun) {
  expect_refusal("top_k",
                 {"(float[3,40] x, int64[1] k) => (float[3,n] y, int64[3,n] i)", "y, i = TopK (x, k)"},
                 "the shape is not known before the run");
}

TEST(TopK, ForgedAxesAreRefused) {
  TacticTest t("top_k", kTwo);
  t.expect_refused(set("axis", 0), "selects from (3, 40)");
  t.expect_refused(set("largest", 2), "its parameter 'largest' is 2");
}

}  // namespace
}  // namespace assay::engine::top_k_test
