#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::fold_columns_test {
namespace {

const NetworkText kFold{"(float[1,18,16] x) => (float[1,2,4,4] y)",
                        "y = Col2Im <pads = [1, 1, 1, 1]> (x, e, b)",
                        "int64[2] e = {4, 4}, int64[2] b = {3, 3}"};

TEST(FoldColumns, BlocksAreAddedUp) { TacticTest("fold_columns", kFold).expect_agreement(); }

TEST(FoldColumns, RefusesExtentsOfTheRun) {
  expect_refusal("fold_columns",
                 {"(float[1,18,16] x, int64[2] e) => (float[1,2,n,m] y)",
                  "y = Col2Im <pads = [1, 1, 1, 1]> (x, e, b)", "int64[2] b = {3, 3}"},
                 "the shape is not known before the run");
}

TEST(FoldColumns, ForgedBlocksAreRefused) {
  TacticTest t("fold_columns", kFold);
  t.expect_refused(set_in("blocks", 0, 5), "elements of 360 in blocks");
  t.expect_runs(set_in("strides", 1, 1000));
  t.expect_runs(set_in("pads_begin", 1, 1000));
}

}  // namespace
}  // namespace assay::engine::fold_columns_test
