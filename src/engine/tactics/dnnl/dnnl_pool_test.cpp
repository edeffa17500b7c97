#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::dnnl_pool_test {
namespace {

const NetworkText kPool{"(float[1,8,4,4] x) => (float[1,8,2,2] y)",
                        "y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)"};

TEST(DnnlPool, MaximaAndMeans) {
  TacticTest("dnnl_pool", kPool).expect_agreement("row");
  TacticTest("dnnl_pool", {"(float[1,20,11,11] x) => (float[1,20,6,6] y)",
                           "y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], "
                           "count_include_pad = 1> (x)"})
      .expect_agreement("row");
}

TEST(DnnlPool, RefusesLongSums) {
  expect_refusal("dnnl_pool", {"(float[1,8,40,40] x) => (float[1,8,1,1] y)", "y = GlobalAveragePool (x)"},
                 "it would add up 1600 numbers one after the other");
}

TEST(DnnlPool, ForgedWindowsAreRefused) {
  TacticTest t("dnnl_pool", kPool);
  t.expect_refused(set_in("kernel", 0, 100), "its windows do not fit");
  t.expect_refused(set("kind", std::string("sum")), "it pools by 'sum'");
}

}  // namespace
}  // namespace assay::engine::dnnl_pool_test
