#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::recurrent_test {
namespace {

const std::string kWeights = floats("w", {1, 12, 4}) + ", " + floats("r", {1, 12, 3});
const NetworkText kLstm{"(float[2,1,4] x) => (float[2,1,1,3] y)", "y = LSTM <hidden_size = 3> (x, w, r)",
                        kWeights};

TEST(Recurrent, EveryCellAndBothDirections) {
  TacticTest("recurrent", kLstm).expect_agreement();
  TacticTest("recurrent",
             {"(float[3,2,4] x) => (float[3,1,2,3] y)",
              "y = GRU <hidden_size = 3, linear_before_reset = 1> (x, w, r, b)",
              floats("w", {1, 9, 4}) + ", " + floats("r", {1, 9, 3}) + ", " + floats("b", {1, 18})})
      .expect_agreement();
  TacticTest both("recurrent", {"(float[3,2,4] x) => (float[3,2,2,3] y)",
                                "y = RNN <hidden_size = 3, direction = \"bidirectional\"> (x, w, r)",
                                floats("w", {2, 3, 4}) + ", " + floats("r", {2, 3, 3})});
  both.expect_agreement();
  both.expect_agreement("in_turn");
  TacticTest("recurrent", {"(float[2,1,4] x, float[1,3,4] w) => (float[2,1,1,3] y)",
                           "y = RNN <hidden_size = 3> (x, w, r)", floats("r", {1, 3, 3})})
      .expect_agreement("packs");
}

TEST(Recurrent, RefusesOtherTypes) {
  expect_refusal("recurrent",
                 {"(double[2,1,4] x, double[1,3,4] w, double[1,3,3] r) => (double[2,1,1,3] y)",
                  "y = RNN <hidden_size = 3> (x, w, r)"},
                 "not float32");
}

TEST(Recurrent, ForgedSizesAreRefused) {
  TacticTest t("recurrent", kLstm);
  t.expect_refused(set_in("sizes", 0, 3), "does not have 12 elements");
  t.expect_refused(set_in("sizes", 3, 4), "does not have");
  t.expect_refused(set("kind", 1), "does not have");
  t.expect_refused(set("lanes", 3), "its weights are in blocks of 3");
  t.expect_refused(set_in("functions", 1, 11), "functions");
  t.expect_refused(set_in("flags", 4, 1), "is left out");
  t.expect_refused(set_in("flags", 6, 1), "inputs for 1 directions");
  t.expect_refused(set_in("flags", 7, 2), "flags");
  t.expect_refused(set("clip", -1.0), "its sums are clipped at -1");
  t.expect_refused(set_scratch(64), "it has 64 bytes of scratch memory");
}

}  // namespace
}  // namespace assay::engine::recurrent_test
