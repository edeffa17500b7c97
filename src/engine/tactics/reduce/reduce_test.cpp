#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::reduce_test {
namespace {

const NetworkText kSum{"(float[3,4] x) => (float[3,1] y)", "y = ReduceSum (x, a)", "int64[1] a = {1}"};

TEST(Reduce, ReducesAdjacentAxes) {
  TacticTest("reduce", kSum).expect_agreement();
  for (const char* op : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1", "ReduceL2"})
    TacticTest("reduce", {"(float[2,3,5,4] x) => (float[2,4] y)",
                          fmt::format("y = {} <keepdims = 0> (x, a)", op), "int64[2] a = {1, 2}"})
        .expect_agreement();
}

TEST(Reduce, RefusesAxesThatLieApart) {
  expect_refusal("reduce",
                 {"(float[2,3,4] x) => (float[1,3,1] y)", "y = ReduceSum (x, a)", "int64[2] a = {0, 2}"},
                 "the reduced axes are not adjacent");
}

TEST(Reduce, ForgedExtentsAreRefused) {
  TacticTest t("reduce", kSum);
  t.expect_refused(set("kind", 7), "its parameter 'kind' is 7");
  t.expect_refused(set("inner", 2), "does not have");
}

}  // namespace
}  // namespace assay::engine::reduce_test
