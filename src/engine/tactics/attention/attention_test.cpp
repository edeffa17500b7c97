#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::attention_test {
namespace {

const NetworkText kMasked{
    "(float[1,2,3,4] q, float[1,2,4,5] k, float[1,2,5,4] v, float[3,5] m) => (float[1,2,3,4] y)",
    "a = MatMul (q, k) b = Add (a, m) c = Softmax <axis = -1> (b) y = MatMul (c, v)"};

TEST(Attention, QueriesKeysAndValuesInOneStep) { TacticTest("attention", kMasked).expect_agreement(); }

TEST(Attention, RefusesASoftmaxAlone) {
  expect_refusal("attention", {"(float[3,5] x) => (float[3,5] y)", "y = Softmax (x)"},
                 "it runs a softmax between two products");
}

TEST(Attention, ForgedPlacesAreRefused) {
  TacticTest t("attention", kMasked);
  t.expect_refused(set_in("extents", 4, 6), "it would leave the");
  t.expect_refused(set_in("extents", 1, INT64_MAX / 8), "its parameter 'extents' holds");
  t.expect_refused(set_in("extents", 2, 5), "2 heads share 5 heads of keys");
  t.expect_refused(set_in("offsets", 1, 1), "it would leave the");
  t.expect_refused(set_in("query", 3, 2), "lie apart");
  t.expect_refused(set_in("result", 2, 0), "its result is not written whole");
  t.expect_refused(set_in("mask_strides", 3, 2), "a mask's keys lie 2 elements apart");
  t.expect_refused(set_in("mask_strides", 2, 6), "it would leave the");
  t.expect_refused(set_in("mask_kinds", 0, 1), "is float32, not bool");
  t.expect_refused(set_scratch(64), "scratch");
}

}  // namespace
}  // namespace assay::engine::attention_test
