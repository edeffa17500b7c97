#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::max_pool_test {
namespace {

const NetworkText kBytes{"(uint8[1,2,5] x) => (uint8[1,2,4] y)", "y = MaxPool <kernel_shape = [2]> (x)"};

TEST(MaxPool, BytesAndPlaces) {
  TacticTest bytes("max_pool", kBytes);
  bytes.expect_agreement("row");
  bytes.expect_agreement("channels_last");
  TacticTest("max_pool",
             {"(float[1,2,6,5] x) => (float[1,2,3,3] y, int64[1,2,3,3] i)",
              "y, i = MaxPool <kernel_shape = [3, 2], strides = [2, 2], pads = [1, 1, 1, 0]> (x)"})
      .expect_agreement();
}

TEST(MaxPool, LeavesPlainMaximaToOneDnn) {
  expect_refusal("max_pool", {"(float[1,2,5] x) => (float[1,2,4] y)", "y = MaxPool <kernel_shape = [2]> (x)"},
                 "oneDNN pools float32");
}

TEST(MaxPool, ForgedWindowsReadNothingOutside) {
  TacticTest t("max_pool", kBytes);
  t.expect_refused(set_in("strides", 0, 0), "its parameter 'strides' holds 0");
  t.expect_refused(set_in("kernel", 0, int64_t{1} << 40), "its parameter 'kernel' holds");
  t.expect_runs(set_in("kernel", 0, 100));
  t.expect_runs(set_in("pads_begin", 0, 2000000000));
  t.expect_runs(set_in("dilations", 0, 2000000000));
}

}  // namespace
}  // namespace assay::engine::max_pool_test
