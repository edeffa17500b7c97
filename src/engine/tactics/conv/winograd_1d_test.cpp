#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::winograd_1d_test {
namespace {

const NetworkText kLine{"(float[1,40,1,30] x) => (float[1,24,1,30] y)",
                        "y = Conv <pads = [0, 1, 0, 1]> (x, w, b)",
                        floats("w", {24, 40, 1, 3}) + ", " + floats("b", {24})};

TEST(Winograd1d, AlongOneAxis) {
  TacticTest("winograd_1d", kLine).expect_agreement();
  TacticTest("winograd_1d", {"(float[2,32,25] x) => (float[2,16,21] y)", "y = Conv <dilations = [2]> (x, w)",
                             floats("w", {16, 32, 3})})
      .expect_agreement();
}

TEST(Winograd1d, RefusesStrides) {
  expect_refusal("winograd_1d",
                 {"(float[1,32,25] x) => (float[1,16,12] y)", "y = Conv <strides = [2]> (x, w)",
                  floats("w", {16, 32, 3})},
                 "it has strides");
}

TEST(Winograd1d, ForgedWindowsAreRefused) {
  TacticTest t("winograd_1d", kLine);
  t.expect_refused(set_in("kernel", 0, 3), "its windows have several axes");
  t.expect_refused(set_in("kernel", 1, 5), "bytes of scratch memory");
  t.expect_refused(set_in("strides", 1, 2), "it has strides");
}

}  // namespace
}  // namespace assay::engine::winograd_1d_test
