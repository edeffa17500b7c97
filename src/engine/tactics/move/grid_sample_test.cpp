#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::grid_sample_test {
namespace {

const NetworkText kGrid{"(float[1,2,4,4] x, float[1,3,3,2] g) => (float[1,2,3,3] y)", "y = GridSample (x, g)",
                        "", 20};

TEST(GridSample, EveryModeAndEdge) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* edge : {"zeros", "border", "reflection"})
      TacticTest(
          "grid_sample",
          {kGrid.interface,
           fmt::format("y = GridSample <mode = \"{}\", padding_mode = \"{}\", align_corners = 1> (x, g)",
                       mode, edge),
           "", 20})
          .expect_agreement();
}

TEST(GridSample, RefusesOtherTypes) {
  expect_refusal(
      "grid_sample",
      {"(double[1,2,4,4] x, double[1,3,3,2] g) => (double[1,2,3,3] y)", "y = GridSample (x, g)", "", 20},
      "image or grid is not float32");
}

TEST(GridSample, ForgedModesAreRefused) {
  TacticTest t("grid_sample", kGrid);
  t.expect_refused(set("mode", 3), "its parameter 'mode' is 3");
  t.expect_refused(set("edge", 3), "its parameter 'edge' is 3");
}

}  // namespace
}  // namespace assay::engine::grid_sample_test
