#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::softmax_test {
namespace {

const NetworkText kRows{"(float[3,4] x) => (float[3,4] y)", "y = Softmax (x)"};

TEST(Softmax, RowsAndAxes) {
  TacticTest("softmax", kRows).expect_agreement();
  TacticTest("softmax", {"(float[2,5,7] x) => (float[2,5,7] y)", "y = LogSoftmax <axis = 1> (x)"})
      .expect_agreement();
  // Before opset 13 everything behind the axis is one.
  TacticTest("softmax", {"(float[2,5,7] x) => (float[2,5,7] y)", "y = Softmax <axis = 1> (x)", "", 11})
      .expect_agreement();
}

TEST(Softmax, RefusesOtherTypes) {
  expect_refusal("softmax", {"(double[3,4] x) => (double[3,4] y)", "y = Softmax (x)"},
                 "the input is not float32");
}

TEST(Softmax, ForgedExtentsAreRefused) {
  TacticTest t("softmax", kRows);
  t.expect_refused(set("outer", 4), "does not have 16 elements");
  t.expect_refused(set("outer", INT64_MAX), "its sizes are beyond any memory");
  t.expect_refused(set("logarithm", 2), "its parameter 'logarithm' is 2");
}

}  // namespace
}  // namespace assay::engine::softmax_test
