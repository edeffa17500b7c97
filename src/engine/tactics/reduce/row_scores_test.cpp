#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::row_scores_test {
namespace {

const NetworkText kLinear{
    "(float[2,2] x) => (float[2,1] y)",
    "y = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0], intercepts = [0.5]> (x)"};

TEST(RowScores, LinearModels) {
  TacticTest("row_scores", kLinear).expect_agreement();
  TacticTest("row_scores", {"(int64[4] x) => (int64[4] y)",
                            "y = ai.onnx.ml.LabelEncoder <keys_int64s = [0, 1], values_int64s = [7, 8], "
                            "default_int64 = -1> (x)"})
      .expect_agreement();
}

TEST(RowScores, ForgedNodesAreRefused) {
  TacticTest t("row_scores", {"(float[2,2] x) => (float[2,1] y, float[2,2] r)",
                              "y = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0]> (x) "
                              "r = ai.onnx.ml.Scaler <scale = [2.0], offset = [1.0]> (x)"});
  t.expect_refused(
      [](Plan& plan, Step& s) {
        for (const Step& other : plan.steps)
          if (other.tactic == "evaluate") s.networks = other.networks;
      },
      "it cannot score rows by");
  t.expect_refused([](Plan&, Step& s) { s.networks.clear(); }, "it has 0 networks");
}

}  // namespace
}  // namespace assay::engine::row_scores_test
