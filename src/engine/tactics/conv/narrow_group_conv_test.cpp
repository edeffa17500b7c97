#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::narrow_group_conv_test {
namespace {

const NetworkText kGroups{"(float[1,16,6,7] x) => (float[1,24,6,7] y)",
                          "c = Conv <group = 4, pads = [1, 1, 1, 1]> (x, w, b) y = Relu (c)",
                          floats("w", {24, 4, 3, 3}) + ", " + floats("b", {24})};

TEST(NarrowGroupConv, GroupsOfSeveralChannels) {
  TacticTest("narrow_group_conv", kGroups).expect_agreement();
}

TEST(NarrowGroupConv, RefusesOneGroup) {
  expect_refusal("narrow_group_conv",
                 {"(float[1,8,4,4] x) => (float[1,8,4,4] y)", "y = Conv (x, w)", floats("w", {8, 8, 1, 1})},
                 "it has only one group");
}

TEST(NarrowGroupConv, ForgedGroupsAreRefused) {
  TacticTest t("narrow_group_conv", kGroups);
  t.expect_refused(set("groups", 1), "it has no groups of several channels");
  t.expect_refused(set("groups", 3), "channels have no 3 groups");
  t.expect_refused(set_in("kernel", 1, 4), "bytes of scratch memory");
}

}  // namespace
}  // namespace assay::engine::narrow_group_conv_test
