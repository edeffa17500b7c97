#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::gather_test {
namespace {

const NetworkText kRows{"(float[3,4] x, int64[2] i) => (float[2,4] y)", "y = Gather <axis = 0> (x, i)"};
/// A constant table is read as its bytes.
const NetworkText kTable{"(int32[2] i) => (float[2,2] y)", "y = Gather <axis = 0> (t, i)",
                         floats("t", {8, 2})};

TEST(Gather, RowsOfValuesAndOfConstants) {
  TacticTest("gather", kRows).expect_agreement();
  TacticTest("gather", kTable).expect_agreement();
  TacticTest("gather",
             {"(float[2,5,3] x, int64[2,2] i) => (float[2,2,2,3] y)", "y = Gather <axis = 1> (x, i)"})
      .expect_agreement();
}

TEST(Gather, RefusesTexts) {
  expect_refusal("gather", {"(string[3] x, int64[2] i) => (string[2] y)", "y = Gather (x, i)"},
                 "elements that are not whole bytes cannot be copied");
}

TEST(Gather, ForgedExtentsAreRefused) {
  TacticTest rows("gather", kRows);
  rows.expect_refused(set("extent", 4), "it picks 2 rows of 16 bytes");
  rows.expect_refused(set("row_bytes", -1), "its parameter 'row_bytes' is -1");
  TacticTest table("gather", kTable);
  table.expect_runs([](Plan&, Step&) {});
  table.expect_refused(set("extent", 9), "it picks 2 rows of 8 bytes");
}

}  // namespace
}  // namespace assay::engine::gather_test
