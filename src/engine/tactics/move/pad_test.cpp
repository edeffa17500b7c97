#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::pad_test {
namespace {

const NetworkText kRows{"(float[3,4] x) => (float[5,4] y)", "y = Pad (x, p)", "int64[4] p = {1, 0, 1, 0}"};
const NetworkText kFilled{"(float[3,4] x) => (float[5,4] y)", "y = Pad (x, p, v)",
                          "int64[4] p = {1, 0, 1, 0}, float v = {7}"};

TEST(Pad, EveryMode) {
  TacticTest("pad", kFilled).expect_agreement("constant");
  for (const char* mode : {"constant", "reflect", "edge", "wrap"})
    TacticTest("pad", {"(float[3,4] x) => (float[4,6] y)",
                       fmt::format("y = Pad <mode = \"{}\"> (x, p)", mode), "int64[4] p = {2, 1, -1, 1}", 19})
        .expect_agreement(mode);
}

TEST(Pad, RefusesPadsOfTheRun) {
  expect_refusal("pad", {"(float[3,4] x, int64[4] p) => (float[5,4] y)", "y = Pad (x, p)"},
                 "the padding is not a constant");
}

TEST(Pad, ForgedPadsAreRefused) {
  TacticTest t("pad", kRows);
  t.expect_refused(set_in("pads", 0, 9), "pads 9, 0, 1, 0 do not make (5, 4) from (3, 4)");
  t.expect_refused(set_in("pads", 0, INT64_MIN), "its parameter 'pads' holds");
  t.expect_refused(set("mode", std::string("mirror")), "the mode 'mirror' is unknown");
  t.expect_refused(set_output_shape({5, 0}), "do not make (5, 0) from (3, 4)");
  // Found by fuzzing: a number to pad with that is left out.
  TacticTest("pad", kFilled).expect_runs(leave_out(1));
}

}  // namespace
}  // namespace assay::engine::pad_test
