#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::indexed_test {
namespace {

const NetworkText kElements{"(float[3,4] x, int64[3,6] i) => (float[3,6] y)",
                            "y = GatherElements <axis = 1> (x, i)"};
const NetworkText kSlices{"(float[3,4] x, int64[2,1] i, float[2,4] u) => (float[3,4] y)",
                          "y = ScatterND <reduction = \"add\"> (x, i, u)"};

TEST(Indexed, ElementsAndSlicesBothWays) {
  TacticTest("indexed", kElements).expect_agreement("elements");
  TacticTest("indexed", kSlices).expect_agreement("slices");
  TacticTest("indexed", {"(float[3,4] x, int32[1,4] i, float[1,4] u) => (float[3,4] y)",
                         "y = ScatterElements <axis = 0, reduction = \"max\"> (x, i, u)"})
      .expect_agreement("elements");
  TacticTest("indexed",
             {"(float[3,4,2] x, int64[3,2,1] i) => (float[3,2,2] y)", "y = GatherND <batch_dims = 1> (x, i)"})
      .expect_agreement("slices");
}

TEST(Indexed, RefusesToCombineTruths) {
  expect_refusal("indexed",
                 {"(bool[3] x, int64[2] i, bool[2] u) => (bool[3] y)",
                  "y = ScatterElements <reduction = \"add\"> (x, i, u)"},
                 "bool is not combined");
}

TEST(Indexed, ForgedAxesAndReductionsAreRefused) {
  TacticTest elements("indexed", kElements);
  elements.expect_refused(set("axis", 2), "its parameter 'axis' is 2");
  elements.expect_refused(set("axis", 0), "indices of shape");
  TacticTest slices("indexed", kSlices);
  slices.expect_refused(set("batch_dims", 1), "do not fit (3, 4)");
  slices.expect_refused(set("reduction", std::string("most")), "'most' is no reduction");
}

}  // namespace
}  // namespace assay::engine::indexed_test
