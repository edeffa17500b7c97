#include "debug/precision_marker.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::debug::precision_marker_test {
namespace {

struct Asked {
  std::optional<size_t> found;
  std::multiset<size_t> questions;
};

Asked search(size_t layers, MarkerMode mode, size_t needed) {
  Asked a;
  a.found = search_marker(layers, mode, [&](size_t marked, size_t) {
    a.questions.insert(marked);
    return marked >= needed;
  });
  return a;
}

TEST(PrecisionMarker, TheLeastNumberIsFound) {
  for (size_t layers = 1; layers <= 20; ++layers)
    for (size_t needed = 1; needed <= layers; ++needed)
      for (const MarkerMode mode : {MarkerMode::kBisect, MarkerMode::kLinear}) {
        const Asked a = search(layers, mode, needed);
        EXPECT_EQ(a.found, needed) << layers << " layers";
        EXPECT_EQ(a.questions.size(), std::set<size_t>(a.questions.begin(), a.questions.end()).size())
            << "a number is asked for twice";
      }
}

TEST(PrecisionMarker, WhereNothingPassesNothingIsFound) {
  EXPECT_EQ(search(5, MarkerMode::kBisect, 99).found, std::nullopt);
  EXPECT_EQ(search(5, MarkerMode::kBisect, 99).questions, std::multiset<size_t>{5});
  EXPECT_EQ(search(5, MarkerMode::kLinear, 99).found, std::nullopt);
  EXPECT_EQ(search(5, MarkerMode::kLinear, 99).questions.size(), 6U);
}

TEST(PrecisionMarker, QuestionsGrowWithTheLogarithm) {
  EXPECT_LE(search(1000, MarkerMode::kBisect, 700).questions.size(), 12U);
  EXPECT_EQ(search(1000, MarkerMode::kLinear, 0).questions.size(), 1U);
}

}  // namespace
}  // namespace assay::debug::precision_marker_test
