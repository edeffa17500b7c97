// Integers, and noisy evaluations of them.
#include "arbiter/integers.h"

#include <gtest/gtest.h>

namespace assay::integers_test {
namespace {

/// What becomes of a result that differs from the exact zeros at `at`. Noisy evaluations show the steps
/// given.
Verdict verdict(const std::vector<int64_t>& steps, size_t at, int64_t value, bool is_level = false) {
  std::vector<int64_t> own(steps.size(), 0);
  own[at] = value;
  const std::vector<Tensor> lanes = {Tensor::vector<int64_t>(std::vector<int64_t>(steps.size(), 0)),
                                     Tensor::vector<int64_t>(steps)};
  ArbiterVerdict out;
  judge_integers(Tensor::vector<int64_t>(own), {.lanes = lanes, .is_level = is_level}, out);
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

TEST(Integers, QuantisedValuesMayDifferByAsManyStepsAsRoundingMoves) {
  const std::vector<Tensor> lanes = {Tensor::vector<int64_t>({0, 0, 0}), Tensor::vector<int64_t>({1, 1, 3}),
                                     Tensor::vector<int64_t>({0, 1, -2}), Tensor::vector<int64_t>({0, -1, 2}),
                                     Tensor::vector<int64_t>({0, 0, -1})};
  const auto most = [&](size_t at, bool noisy_levels) {
    for (int64_t value = 1;; ++value) {
      std::vector<int64_t> own(3, 0);
      own[at] = value;
      ArbiterVerdict out;
      judge_integers(Tensor::vector<int64_t>(own),
                     {.lanes = lanes, .noisy_levels = noisy_levels, .is_level = true}, out);
      if (out.verdict == Verdict::kWrong) return value - 1;
    }
  };
  EXPECT_EQ(most(0, false), 2) << "one evaluation of four is a step off";
  EXPECT_EQ(most(1, false), 6) << "three are";
  EXPECT_EQ(most(2, false), 16) << "a spread of 2.1 steps";
  EXPECT_EQ(most(0, true), 1);
  EXPECT_EQ(most(1, true), 2);
  EXPECT_EQ(most(2, true), 6);
}

TEST(Integers, WhereNothingVariesNothingMayDiffer) { EXPECT_EQ(verdict({0, 0, 0}, 1, 1), Verdict::kWrong); }

}  // namespace
}  // namespace assay::integers_test
