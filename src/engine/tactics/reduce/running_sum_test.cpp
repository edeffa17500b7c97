#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::running_sum_test {
namespace {

const NetworkText kSums{"(float[3,4] x) => (float[3,4] y)", "y = CumSum <exclusive = 1> (x, a)",
                        "int64 a = {1}"};

TEST(RunningSum, SumsAndProductsInBothDirections) {
  TacticTest("running_sum", kSums).expect_agreement();
  TacticTest("running_sum",
             {"(float[3,4] x) => (float[3,4] y)", "y = CumSum <reverse = 1> (x, a)", "int64 a = {-2}"})
      .expect_agreement();
}

TEST(RunningSum, RefusesAnAxisOfTheRun) {
  expect_refusal("running_sum", {"(float[3,4] x, int64 a) => (float[3,4] y)", "y = CumSum (x, a)"},
                 "the axis is not constant");
}

TEST(RunningSum, ForgedShapesAreRefused) {
  TacticTest t("running_sum", kSums);
  t.expect_refused(set("axis", -1), "its parameter 'axis' is -1");
  t.expect_refused(set_output_shape({4, 3}), "another shape than (3, 4)");
}

}  // namespace
}  // namespace assay::engine::running_sum_test
