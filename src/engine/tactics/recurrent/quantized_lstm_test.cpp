#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::quantized_lstm_test {
namespace {

const NetworkText kLstm{
    "(float[2,1,4] x) => (float[2,1,1,3] y)",
    "y = com.microsoft.DynamicQuantizeLSTM <hidden_size = 3> (x, w, r, , , , , , s, z, s, z)",
    integers("int8", "w", {1, 4, 12}) + ", " + integers("int8", "r", {1, 3, 12}) +
        ", float[1] s = {0.01}, int8[1] z = {2}"};

TEST(QuantizedLstm, AsTheReference) { TacticTest("quantized_lstm", kLstm).expect_agreement(); }

TEST(QuantizedLstm, RefusesLengths) {
  expect_refusal("quantized_lstm",
                 {"(float[2,1,4] x, int32[1] n) => (float[2,1,1,3] y)",
                  "y = com.microsoft.DynamicQuantizeLSTM <hidden_size = 3> (x, w, r, , n, , , , s, z, s, z)",
                  kLstm.constants},
                 "its sequences end at different steps");
}

TEST(QuantizedLstm, ForgedSizesAreRefused) {
  TacticTest t("quantized_lstm", kLstm);
  t.expect_refused(set_in("sizes", 0, 3), "does not have 12 elements");
  t.expect_refused(set_in("sizes", 3, 40), "does not have");
  t.expect_refused(set_in("sizes", 4, 2), "inputs for 2 directions");
  t.expect_refused(set_in("sizes", 2, 1 << 20), "may exceed 32 bits");
  t.expect_refused(set("lanes", 3), "its weights are in blocks of 3");
  t.expect_refused(set_in("functions", 1, 11), "functions");
  t.expect_refused(set_in("flags", 2, 1), "is left out");
  t.expect_refused(set("clip", -1.0), "its sums are clipped at -1");
  t.expect_refused(set_scratch(64), "it has 64 bytes of scratch memory");
}

}  // namespace
}  // namespace assay::engine::quantized_lstm_test
