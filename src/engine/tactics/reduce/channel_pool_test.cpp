#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::channel_pool_test {
namespace {

const NetworkText kAverage{
    "(float[1,20,11,11] x) => (float[1,20,6,6] y)",
    "y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x)"};

TEST(ChannelPool, WindowsAndWholeImages) {
  TacticTest("channel_pool", kAverage).expect_agreement("channels_last");
  TacticTest("channel_pool", {"(float[2,32,5,7] x) => (float[2,32,1,1] y)", "y = GlobalMaxPool (x)"})
      .expect_agreement("channels_last");
}

TEST(ChannelPool, RefusesThreeAxes) {
  expect_refusal("channel_pool",
                 {"(float[1,8,3,3,3] x) => (float[1,8,1,1,1] y)", "y = GlobalAveragePool (x)"},
                 "only one or two spatial axes are supported");
}

TEST(ChannelPool, ForgedWindowsAreRefused) {
  TacticTest t("channel_pool", kAverage);
  t.expect_refused(set("kind", 3), "its parameter 'kind' is 3");
  t.expect_refused(set_in("pads_begin", 0, 3), "a window lies beside");
  t.expect_refused(set_in("kernel", 1, 0), "its parameter 'kernel' holds 0");
}

}  // namespace
}  // namespace assay::engine::channel_pool_test
