#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::fourier_test {
namespace {

const NetworkText kHalf{"(float[2,6,1] x) => (float[2,4,2] y)", "y = DFT <onesided = 1> (x)", "", 20};

TEST(Fourier, TransformsLinesAndFrames) {
  TacticTest("fourier", kHalf).expect_agreement();
  TacticTest("fourier",
             {"(float[2,9,2] x) => (float[2,9,2] y)", "y = DFT <inverse = 1, axis = 1> (x)", "", 17})
      .expect_agreement();
  TacticTest("fourier", {"(float[1,20,1] x) => (float[1,4,5,2] y)", "y = STFT (x, s, , n)",
                         "int64 s = {4}, int64 n = {8}"})
      .expect_agreement();
}

TEST(Fourier, RefusesFramesOfTheRun) {
  expect_refusal(
      "fourier",
      {"(float[1,20,1] x, int64 s) => (float[1,4,5,2] y)", "y = STFT (x, s, , n)", "int64 n = {8}"},
      "step or length of the frames is not constant");
}

TEST(Fourier, ForgedLengthsAreRefused) {
  TacticTest t("fourier", kHalf);
  t.expect_refused(set("length", 9), "transforms of 9 do not make (2, 4, 2) of (2, 6, 1)");
  t.expect_refused(set("length", int64_t{1} << 40), "its parameter 'length' is");
  t.expect_refused(set("axis", 2), "holds the complex parts");
  t.expect_refused(set("step", 3), "do not make");
  t.expect_runs(set("length", 7));
}

}  // namespace
}  // namespace assay::engine::fourier_test
