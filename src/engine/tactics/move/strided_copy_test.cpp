#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::strided_copy_test {
namespace {

const NetworkText kTransposed{"(float[3,4] x) => (float[4,3] y)", "y = Transpose (x)"};

TEST(StridedCopy, WalksOfEveryKind) {
  TacticTest("strided_copy", kTransposed).expect_agreement();
  TacticTest("strided_copy", {"(float[4,6] x) => (float[2,6] y)", "y = Slice (x, b, e, a, s)",
                              "int64[1] b = {3}, int64[1] e = {-5}, int64[1] a = {0}, int64[1] s = {-2}"})
      .expect_agreement();
  TacticTest("strided_copy",
             {"(float[3,1] x) => (float[2,3,4] y)", "y = Expand (x, s)", "int64[3] s = {2, 3, 4}"})
      .expect_agreement();
  TacticTest("strided_copy", {"(float[3,6] x) => (float[3,2] y, float[3,4] z)",
                              "y, z = Split <axis = 1> (x, s)", "int64[2] s = {2, 4}"})
      .expect_agreement();
}

TEST(StridedCopy, RefusesPlacesOfTheRun) {
  expect_refusal("strided_copy",
                 {"(float[3,4] x, int64[1] b, int64[1] e) => (float[n,4] y)", "y = Slice (x, b, e)"},
                 "the shape is not known before the run");
}

TEST(StridedCopy, ForgedWalksStayInside) {
  TacticTest t("strided_copy", kTransposed);
  t.expect_refused(set_in("strides", 0, 5), "it would leave the 12 elements");
  t.expect_refused(set_in("offsets", 0, -1), "it would leave the 12 elements");
  t.expect_refused(set_in("strides", 1, INT64_MAX), "it would leave the 12 elements");
}

}  // namespace
}  // namespace assay::engine::strided_copy_test
