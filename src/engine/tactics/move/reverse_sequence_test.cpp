#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::reverse_sequence_test {
namespace {

const NetworkText kTimes{"(float[3,4] x, int64[4] n) => (float[3,4] y)", "y = ReverseSequence (x, n)"};

TEST(ReverseSequence, BothOrdersOfAxes) {
  TacticTest("reverse_sequence", kTimes).expect_agreement();
  TacticTest("reverse_sequence", {"(float[4,3,2] x, int64[4] n) => (float[4,3,2] y)",
                                  "y = ReverseSequence <time_axis = 1, batch_axis = 0> (x, n)"})
      .expect_agreement();
}

TEST(ReverseSequence, RefusesWholeBytesOnly) {
  expect_refusal("reverse_sequence",
                 {"(string[3,4] x, int64[4] n) => (string[3,4] y)", "y = ReverseSequence (x, n)"},
                 "elements that are not whole bytes cannot be copied");
}

TEST(ReverseSequence, ForgedAxesAreRefused) {
  TacticTest t("reverse_sequence", kTimes);
  t.expect_refused(set("by_sequence", 1), "lengths of (4,) for (3, 4)");
  t.expect_refused(set("by_sequence", 2), "its parameter 'by_sequence' is 2");
}

}  // namespace
}  // namespace assay::engine::reverse_sequence_test
