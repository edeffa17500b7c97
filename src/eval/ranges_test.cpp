#include "eval/ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "assay/error.h"

namespace assay::eval::ranges_test {
namespace {

std::set<int64_t> members(const Ranges& ranges) {
  std::set<int64_t> members;
  for (const Range& r : ranges.list())
    for (int64_t i = r.first; i < r.end; ++i) members.insert(i);
  return members;
}

Ranges some(std::mt19937& random) {
  Ranges ranges;
  for (unsigned i = random() % 6; i > 0; --i) {
    const int64_t first = random() % 40;
    ranges.add(first, first + static_cast<int64_t>(random() % 9));
  }
  return ranges;
}

TEST(Ranges, AreSets) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const Ranges a = some(random), b = some(random);
    const std::set<int64_t> in_a = members(a), in_b = members(b);
    std::set<int64_t> both, only, either = in_a;
    for (const int64_t i : in_a) (in_b.count(i) != 0 ? both : only).insert(i);
    either.insert(in_b.begin(), in_b.end());
    Ranges sum = a;
    sum.add(b);
    EXPECT_EQ(members(sum), either);
    EXPECT_EQ(members(a.common(b)), both);
    EXPECT_EQ(members(a.without(b)), only);
    EXPECT_EQ(a.count(), static_cast<int64_t>(in_a.size()));
    for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(a.contains(i), in_a.count(i) != 0);
    // The same set is the same list.
    EXPECT_EQ(a.common(b).text(), b.common(a).text());
    EXPECT_EQ(a.empty() ? a : Ranges::parse(a.text()), a);
  }
}

TEST(Ranges, Texts) {
  EXPECT_EQ(Ranges::parse("5:7,0:5,9:10").text(), "0:7,9:10");
  for (const char* text : {"", "1", "1:", ":1", "3:3", "4:2", "-1:4", "0:1,", "0:5,4:6", "0:1;2:3", "a:b"})
    EXPECT_THROW(Ranges::parse(text), Error) << text;
}

}  // namespace
}  // namespace assay::eval::ranges_test
