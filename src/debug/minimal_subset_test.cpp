#include "debug/minimal_subset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace assay::debug::minimal_subset_test {
namespace {

using Set = std::vector<size_t>;

bool has_all(std::span<const size_t> set, const Set& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](size_t w) { return std::find(set.begin(), set.end(), w) != set.end(); });
}

TEST(MinimalSubset, OneElementIsFoundInLogarithmicTime) {
  for (const size_t count : {1U, 2U, 3U, 122U, 1000U})
    for (size_t culprit = 0; culprit < count; culprit += 1 + count / 17) {
      size_t asked = 0;
      const Set found = minimal_subset(count, {.fails = [&](std::span<const size_t> set) {
                                         ++asked;
                                         return has_all(set, {culprit});
                                       }});
      EXPECT_EQ(found, Set{culprit});
      size_t levels = 1;
      while ((size_t{1} << levels) < count) ++levels;
      EXPECT_LE(asked, levels + 2) << count << " " << culprit;
    }
}

TEST(MinimalSubset, TwoElementsAreFoundInLogarithmicTime) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const size_t count = 3 + random() % 500;
    const size_t first = random() % (count - 1), second = first + 1 + random() % (count - 1 - first);
    size_t asked = 0;
    const Set found = minimal_subset(count, {.fails = [&](std::span<const size_t> set) {
                                       ++asked;
                                       return has_all(set, {first, second});
                                     }});
    EXPECT_EQ(found, (Set{first, second}));
    size_t levels = 1;
    while ((size_t{1} << levels) < count) ++levels;
    EXPECT_LE(asked, 4 * levels + 2) << count << " " << first << " " << second;
  }
}

TEST(MinimalSubset, ElementsThatFailOnlyTogetherAllStay) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t count = 2 + random() % 60;
    Set culprits;
    for (size_t i = 0, n = 1 + random() % 4; i < n; ++i) culprits.push_back(random() % count);
    std::sort(culprits.begin(), culprits.end());
    culprits.erase(std::unique(culprits.begin(), culprits.end()), culprits.end());
    std::set<Set> asked;
    const Set found = minimal_subset(count, {.fails = [&](std::span<const size_t> set) {
                                       EXPECT_TRUE(asked.insert(Set(set.begin(), set.end())).second)
                                           << "asked twice";
                                       return has_all(set, culprits);
                                     }});
    EXPECT_EQ(found, culprits);
  }
}

TEST(MinimalSubset, ItKnowsWhatItMayAskNext) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const size_t count = 2 + random() % 90;
    const Set culprits = {random() % count};
    std::vector<Set> expected;
    size_t foreseen = 0, asked = 0;
    Set last;
    const Set plain = minimal_subset(count, {.fails = [&](auto set) { return has_all(set, culprits); }});
    const Set found = minimal_subset(
        count, {.fails =
                    [&](std::span<const size_t> set) {
                      const Set now(set.begin(), set.end());
                      EXPECT_EQ(expected.front(), now) << "the first one is certain";
                      EXPECT_EQ(std::set<Set>(expected.begin(), expected.end()).size(), expected.size());
                      EXPECT_LE(expected.size(), 6u);
                      ++asked;
                      return has_all(set, culprits);
                    },
                .cut_costs = {},
                .expect =
                    [&](const std::vector<Set>& sets) {
                      const bool was_there =
                          std::find(expected.begin(), expected.end(), sets[0]) != expected.end();
                      foreseen += was_there ? 1 : 0;
                      expected = sets;
                    },
                .foresight = 6});
    EXPECT_EQ(found, plain);
    EXPECT_EQ(foreseen + 1, std::max<size_t>(asked, 1)) << "of two answers both were thought of";
  }
}

TEST(MinimalSubset, NothingCanBeLeftOutOfAnAnswer) {
  // Failures that come and go: no two elements are needed, but an odd number of the first five.
  const auto odd = [](std::span<const size_t> set) {
    return std::count_if(set.begin(), set.end(), [](size_t i) { return i < 5; }) % 2 == 1;
  };
  const Set found = minimal_subset(40, {.fails = odd});
  ASSERT_TRUE(odd(found));
  for (const size_t left_out : found) {
    Set rest;
    std::copy_if(found.begin(), found.end(), std::back_inserter(rest),
                 [&](size_t i) { return i != left_out; });
    EXPECT_FALSE(odd(rest));
  }
}

TEST(MinimalSubset, HalvesEndWhereLittleIsCut) {
  std::vector<size_t> costs(12, 5);
  costs[7] = 1;
  Set first;
  minimal_subset(12, {.fails =
                          [&](std::span<const size_t> set) {
                            if (first.empty()) first.assign(set.begin(), set.end());
                            return has_all(set, {11});
                          },
                      .cut_costs = costs});
  EXPECT_EQ(first.size(), 7U);
}

}  // namespace
}  // namespace assay::debug::minimal_subset_test
