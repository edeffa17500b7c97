#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::triangle_test {
namespace {

const NetworkText kUpper{"(float[3,4] x) => (float[3,4] y)", "y = Trilu (x)"};

TEST(Triangle, UpperAndLower) {
  TacticTest("triangle", kUpper).expect_agreement();
  TacticTest("triangle",
             {"(int64[2,4,3] x) => (int64[2,4,3] y)", "y = Trilu <upper = 0> (x, k)", "int64 k = {-1}"})
      .expect_agreement();
}

TEST(Triangle, RefusesADiagonalOfTheRun) {
  expect_refusal("triangle", {"(float[3,4] x, int64 k) => (float[3,4] y)", "y = Trilu (x, k)"},
                 "the diagonal is not constant");
}

TEST(Triangle, EveryForgedDiagonalRuns) {
  TacticTest t("triangle", kUpper);
  t.expect_runs(set("k", INT64_MIN));
  t.expect_runs(set("k", INT64_MAX));
  t.expect_refused(set("upper", -1), "its parameter 'upper' is -1");
}

}  // namespace
}  // namespace assay::engine::triangle_test
