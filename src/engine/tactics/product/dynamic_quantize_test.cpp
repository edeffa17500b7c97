#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::dynamic_quantize_test {
namespace {

const NetworkText kRange{"(float[3,4] x) => (uint8[3,4] y, float s, uint8 z)",
                         "y, s, z = DynamicQuantizeLinear (x)"};

TEST(DynamicQuantize, TheRangeOfTheData) { TacticTest("dynamic_quantize", kRange).expect_agreement("row"); }

TEST(DynamicQuantize, RefusesNothing) {
  expect_refusal(
      "dynamic_quantize",
      {"(float[0,4] x) => (uint8[0,4] y, float s, uint8 z)", "y, s, z = DynamicQuantizeLinear (x)"},
      "there is nothing to take the range of");
}

TEST(DynamicQuantize, ForgedResultsAreRefused) {
  TacticTest("dynamic_quantize", kRange)
      .expect_refused([](Plan&, Step& s) { std::swap(s.outputs[0], s.outputs[2]); }, "it gives () in row of");
}

}  // namespace
}  // namespace assay::engine::dynamic_quantize_test
