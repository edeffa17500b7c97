#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::dnnl_deconv_test {
namespace {

const NetworkText kDeconv{"(float[1,8,3] x) => (float[1,4,5] y)", "y = ConvTranspose (x, w)",
                          floats("w", {8, 4, 3})};

TEST(DnnlDeconv, GroupsAndStrides) {
  TacticTest("dnnl_deconv", kDeconv).expect_agreement();
  TacticTest("dnnl_deconv", {"(float[1,24,9,9] x) => (float[1,8,18,18] y)",
                             "y = ConvTranspose <strides = [2, 2], group = 2> (x, w, b)",
                             floats("w", {24, 4, 2, 2}) + ", " + floats("b", {8})})
      .expect_agreement("row");
}

TEST(DnnlDeconv, RefusesExtentsInThePlaceOfPadding) {
  expect_refusal("dnnl_deconv",
                 {"(float[1,8,3] x) => (float[1,4,6] y)",
                  "y = ConvTranspose <output_shape = [6], strides = [2]> (x, w)", floats("w", {8, 4, 3})},
                 "the output's extents are given instead of its padding");
}

TEST(DnnlDeconv, ForgedGroupsAreRefused) {
  TacticTest t("dnnl_deconv", kDeconv);
  t.expect_refused(set("groups", 3), "its parameter 'weights' has 3 numbers");
  t.expect_refused(set("groups", 9), "its parameter 'groups' is 9");
}

}  // namespace
}  // namespace assay::engine::dnnl_deconv_test
