#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::copy_test {
namespace {

/// Two outputs of one value: one of them is a copy.
const NetworkText kTwice{"(float[2,3] x) => (float[2,3] y, float[6] z)", "y = Relu (x) z = Reshape (y, s)",
                         "int64[1] s = {6}"};

TEST(Copy, TwoOutputsOfOneValue) { TacticTest("copy", kTwice).expect_agreement(); }

TEST(Copy, ForgedShapesAreRefused) {
  TacticTest("copy", kTwice).expect_refused(set_output_shape({3}), "it copies");
}

}  // namespace
}  // namespace assay::engine::copy_test
