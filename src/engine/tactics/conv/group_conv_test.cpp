#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::group_conv_test {
namespace {

const NetworkText kGroups{"(float[2,24,7,7] x, float[2,36,7,7] z) => (float[2,36,7,7] y)",
                          "c = Conv <group = 3> (x, w, b) s = Add (c, z) y = Relu (s)",
                          floats("w", {36, 8, 1, 1}) + ", " + floats("b", {36})};

TEST(GroupConv, ProductsWhereTheImageLies) { TacticTest("group_conv", kGroups).expect_agreement(); }

TEST(GroupConv, RefusesOneGroup) {
  expect_refusal("group_conv",
                 {"(float[1,8,4,4] x) => (float[1,8,4,4] y)", "y = Conv (x, w)", floats("w", {8, 8, 1, 1})},
                 "it has only one group");
}

TEST(GroupConv, ForgedSizesAreRefused) {
  TacticTest t("group_conv", kGroups);
  t.expect_refused(set("groups", 2), "does not have");
  t.expect_refused(set("k", 0), "its parameter 'k' is 0");
}

}  // namespace
}  // namespace assay::engine::group_conv_test
