#include "engine/tactics/tactic_test_util.h"

#include <set>

namespace assay::engine::view_test {
namespace {

/// Views are steps of no plan.
std::multiset<std::string> steps_of(const NetworkText& network) {
  const Runtime runtime({.threads = 1});
  std::multiset<std::string> names;
  const auto engine = Builder(runtime).build_engine(network.model(), {.optimization_level = 0});
  for (const Step& s : engine->state().saved.plans.at(0).plan->steps) names.insert(s.tactic);
  return names;
}

TEST(View, ShapesChangeWithoutAStep) {
  EXPECT_EQ(steps_of({"(float[2,6] x) => (float[3,4] y)", "a = Relu (x) b = Reshape (a, s) y = Neg (b)",
                      "int64[2] s = {3, 4}"}),
            (std::multiset<std::string>{"pointwise", "pointwise"}));
}

TEST(View, RefusesTexts) {
  expect_refusal("view", {"(string[2,6] x) => (string[12] y)", "y = Reshape (x, s)", "int64[1] s = {12}"},
                 "strings have no memory to look at");
}

TEST(View, AStepThatClaimsToBeOneIsRefused) {
  TacticTest("pointwise", {"(float[3] x) => (float[3] y)", "y = Neg (x)"})
      .expect_refused([](Plan&, Step& s) { s.tactic = "view"; }, "this build has no tactic named");
}

}  // namespace
}  // namespace assay::engine::view_test
