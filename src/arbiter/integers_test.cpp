// Whole numbers and what noisy evaluations show about them.
#include "arbiter/integers.h"

#include <gtest/gtest.h>

namespace assay::integers_test {
namespace {

/// What becomes of a result that differs from the exact zeros at `at`. Noisy evaluations show the steps
/// given.
Verdict verdict(const std::vector<int64_t>& steps, size_t at, int64_t value) {
  std::vector<int64_t> own(steps.size(), 0);
  own[at] = value;
  const std::vector<Tensor> lanes = {Tensor::vector<int64_t>(std::vector<int64_t>(steps.size(), 0)),
                                     Tensor::vector<int64_t>(steps)};
  ArbiterVerdict out;
  judge_integers(Tensor::vector<int64_t>(own), lanes, nullptr, out);
  return out.verdict;
}

TEST(Integers, AMissedOneMayDifferByAStepThatIsSeen) {
  // Places of the largest of equal numbers: any may be chosen. One element shows nothing by chance.
  std::vector<int64_t> places;
  for (int64_t i = 0; i < 60; ++i) places.push_back(1 + i % 6);
  places.push_back(0);
  for (int64_t value = 1; value <= 6; ++value)
    EXPECT_EQ(verdict(places, 60, value), Verdict::kRounding) << value;
  EXPECT_EQ(verdict(places, 60, 9), Verdict::kWrong);
  // Levels, which differ by one but for a single jump: a larger difference is none of theirs.
  std::vector<int64_t> levels(60, 1);
  levels[7] = 40;
  levels.push_back(0);
  EXPECT_EQ(verdict(levels, 60, 1), Verdict::kRounding);
  EXPECT_EQ(verdict(levels, 60, 5), Verdict::kWrong);
}

TEST(Integers, WhereNothingVariesNothingMayDiffer) { EXPECT_EQ(verdict({0, 0, 0}, 1, 1), Verdict::kWrong); }

}  // namespace
}  // namespace assay::integers_test
