#include "debug/opset_search.h"

#include <set>
#include <string>

#include "debug/debug_test_util.h"
#include "debug/divergence.h"

namespace assay::debug::opset_search_test {
namespace {

/// The number of questions that a search asks, none twice, where results differ from `first` on.
size_t questions(int64_t from, int64_t to, int64_t first, std::optional<OpsetStep>& found) {
  std::set<int64_t> asked;
  found = find_opset_step(from, to, [&](int64_t opset) {
    EXPECT_TRUE(asked.insert(opset).second) << opset;
    return to > from ? opset >= first : opset <= first;
  });
  return asked.size();
}

TEST(OpsetSearch, FindsEveryStepInLogarithmicTime) {
  for (const auto& [from, to] : {std::pair<int64_t, int64_t>{7, 23}, {23, 7}, {17, 18}, {18, 17}}) {
    const int64_t by = to > from ? 1 : -1;
    for (int64_t first = from + by; first != to + by; first += by) {
      std::optional<OpsetStep> found;
      EXPECT_LE(questions(from, to, first, found), 5U);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->from, first - by);
      EXPECT_EQ(found->to, first);
    }
  }
}

TEST(OpsetSearch, NothingDiffers) {
  std::optional<OpsetStep> found;
  EXPECT_EQ(questions(7, 23, 99, found), 1U);
  EXPECT_FALSE(found);
  EXPECT_EQ(questions(7, 7, 7, found), 0U);
}

/// A conversion whose step to 19 loses the slope of LeakyRelu.
std::shared_ptr<Model> converted(int64_t opset) {
  const std::string slope = opset < 19 ? "<alpha = 0.3> " : "";
  return model_from("g (float[2,3] x) => (float[2,3] y) { [a] t = Tanh (x) [act] r = LeakyRelu " + slope +
                    "(t) [last] y = Neg (r) }");
}

TEST(OpsetSearch, NamesTheStepAndTheNodeOfAWrongConversion) {
  DivergenceReport report;
  const std::shared_ptr<Model> original = converted(17);
  const std::optional<OpsetStep> found = find_opset_step(17, 23, [&](int64_t opset) {
    const std::shared_ptr<Model> other = converted(opset);
    const std::vector<Tensor> feed = {
        Tensor::from<float>({2, 3}, std::vector<float>{-1, 2, 0.5f, -4, 3, 0.25f})};
    TensorStore store(kResultMemory);
    LayerValues before(store), after(store);
    run_reference(original, feed, before);
    run_reference(other, feed, after);
    DivergenceSearch search(original, other, {});
    search.look(before, after);
    const bool differs = !search.report().divergences.empty();
    if (differs) report = search.take_report();
    return differs;
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, 18);
  EXPECT_EQ(found->to, 19);
  ASSERT_EQ(report.divergences.size(), 1U);
  EXPECT_NE(report.divergences[0].first_nodes.at(0).find("'act'"), std::string::npos);
}

}  // namespace
}  // namespace assay::debug::opset_search_test
