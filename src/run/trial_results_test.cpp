#include "run/trial_results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay::trial_results_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ElementRelations, AreDecidedByTheOriginal) {
  const struct {
    ElementResults results;
    ElementRelation relation;
  } kCases[] = {
      {{1, 2, 1, 2}, ElementRelation::kFinite},
      {{kNan, kNan, kNan, kNan}, ElementRelation::kSame},
      {{kNan, 1, kNan, 1}, ElementRelation::kOpen},
      // Beyond the declared type's range on the way.
      {{1, 1, kInf, 1}, ElementRelation::kOpen},
      {{kInf, 1, 1, 1}, ElementRelation::kOpen},
      {{kInf, kInf, kInf, kInf}, ElementRelation::kSame},
      {{kInf, -kInf, kInf, -kInf}, ElementRelation::kDiffers},
      {{kInf, 1, kInf, 1}, ElementRelation::kDiffers},
      {{1, kNan, 1, kNan}, ElementRelation::kDiffers},
      {{1, kInf, 1, kInf}, ElementRelation::kDiffers},
      {{1, 1, 1, kInf}, ElementRelation::kDiffersStored},
      {{1, 1, 1, kNan}, ElementRelation::kDiffersStored},
  };
  for (const auto& [e, relation] : kCases)
    EXPECT_EQ(relation_of(e), relation)
        << e.exact << ' ' << e.changed << ' ' << e.stored << ' ' << e.changed_stored;
}

TEST(Distances, CountWhatIsFarAndKeepTheFirstOfTheFarthest) {
  Distances distances(2);
  EXPECT_EQ(distances.farthest, -1);
  distances.add(0, 0);
  EXPECT_EQ(distances.farthest, -1);
  distances.add(1, 2);
  distances.add(2, 3);
  distances.add(3, 3);
  EXPECT_EQ(distances.far, 2);
  EXPECT_EQ(distances.farthest, 2);
}

TEST(TrialResults, LargestOfTheFiniteNumbers) {
  EXPECT_EQ(largest_finite(std::vector<double>{1, -3, kInf, kNan, -kInf}), 3);
  EXPECT_EQ(largest_finite(std::vector<double>{kNan, kInf}), 0);
}

TEST(TrialResults, OneStepIsANeighbourInTheType) {
  const float next = std::nextafter(1.0F, 2.0F);
  const auto results = [](float changed) {
    return TrialResults{.exact = {{"y", Tensor::vector<float>({1, 2})}},
                        .stored = {},
                        .changed_exact = {{"y", Tensor::vector<float>({changed, 2})}},
                        .changed_stored = {}};
  };
  EXPECT_TRUE(all_within_one_step(results(1)));
  EXPECT_TRUE(all_within_one_step(results(next)));
  EXPECT_FALSE(all_within_one_step(results(std::nextafter(next, 2.0F))));
  TrialResults renamed = results(1);
  renamed.changed_exact[0].name = "z";
  EXPECT_FALSE(all_within_one_step(renamed));
}

}  // namespace
}  // namespace assay::trial_results_test
