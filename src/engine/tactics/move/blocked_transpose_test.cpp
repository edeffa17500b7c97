#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::blocked_transpose_test {
namespace {

/// A convolution whose result lies in blocks, for which the transposition is chosen.
const NetworkText kLast{
    "(float[1,32,6,5] x) => (float[1,5,6,32] y)",
    "c = Conv <group = 32, pads = [3, 3, 3, 3]> (x, w) y = Transpose <perm = [0, 3, 2, 1]> (c)",
    floats("w", {32, 1, 7, 7})};

TEST(BlockedTranspose, BlocksBecomeTheLastAxis) { TacticTest("blocked_transpose", kLast).expect_agreement(); }

TEST(BlockedTranspose, RefusesChannelsThatFillNoBlock) {
  expect_refusal("blocked_transpose",
                 {"(float[1,3,6,5] x) => (float[1,5,6,3] y)", "y = Transpose <perm = [0, 3, 2, 1]> (x)"},
                 "no axis of channels fills its blocks");
}

TEST(BlockedTranspose, ForgedOrdersAreRefused) {
  TacticTest t("blocked_transpose", kLast);
  t.expect_refused(set_in("perm", 1, 2), "is not axis");
  t.expect_refused(set_in("perm", 1, 4), "its parameter 'perm' holds 4");
  t.expect_refused(set_in("perm", 3, 0), "is not axis");
}

}  // namespace
}  // namespace assay::engine::blocked_transpose_test
