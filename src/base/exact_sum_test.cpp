#include "base/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "assay/error.h"

namespace assay::exact_sum_test {
namespace {

ExactSum sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double v : values) sum.add(v);
  return sum;
}

/// Doubles of every magnitude and sign, subnormal ones included.
std::vector<double> wild_numbers(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  while (values.size() < count) {
    const double v = std::bit_cast<double>(random());
    if (std::isfinite(v) && std::abs(v) < 1e300) values.push_back(v);
  }
  return values;
}

TEST(ExactSum, DoesNotDependOnTheOrder) {
  std::vector<double> values = wild_numbers(1000, 1);
  const std::string expected = sum_of(values).text();
  std::mt19937 random(2);
  for (int round = 0; round < 10; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    // Any tree of partial sums.
    std::vector<ExactSum> parts;
    for (size_t i = 0; i < values.size(); i += 37)
      parts.push_back(sum_of({values.begin() + static_cast<long>(i),
                              values.begin() + static_cast<long>(std::min(values.size(), i + 37))}));
    while (parts.size() > 1) {
      std::shuffle(parts.begin(), parts.end(), random);
      parts[parts.size() - 2].add(parts.back());
      parts.pop_back();
    }
    EXPECT_EQ(parts.front().text(), expected);
  }
}

TEST(ExactSum, LosesNothingToCancellation) {
  EXPECT_EQ(sum_of({1e300, 1.0, -1e300}).value(), 1.0);
  EXPECT_EQ(sum_of({1e-300, 1e300, -1e300}).value(), 1e-300);
  std::vector<double> values = wild_numbers(500, 3);
  ExactSum sum = sum_of(values);
  for (const double v : values) sum.add(-v);
  EXPECT_TRUE(sum.is_zero());
  EXPECT_EQ(sum.text(), "0");
}

TEST(ExactSum, OneNumberIsItself) {
  for (const double v : wild_numbers(1000, 4)) EXPECT_EQ(sum_of({v}).value(), v);
  for (const double v : {0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.0, 0.1})
    EXPECT_EQ(sum_of({v}).value(), v);
}

TEST(ExactSum, RoundsToNearestEven) {
  const double ulp = std::ldexp(1.0, -52);
  EXPECT_EQ(sum_of({1.0, ulp / 2}).value(), 1.0);
  EXPECT_EQ(sum_of({1.0 + ulp, ulp / 2}).value(), 1.0 + 2 * ulp);
  EXPECT_EQ(sum_of({1.0, ulp / 2, 5e-324}).value(), 1.0 + ulp);
  EXPECT_EQ(sum_of({-1.0, -ulp / 2, -5e-324}).value(), -1.0 - ulp);
  EXPECT_EQ(sum_of({1.7976931348623157e308, 1.7976931348623157e308}).value(),
            std::numeric_limits<double>::infinity());
  // A sum of subnormal numbers.
  EXPECT_EQ(sum_of({5e-324, 5e-324, 1e-323}).value(), 2e-323);
}

TEST(ExactSum, ProductsAreExact) {
  ExactSum sum;
  const double x = 1.0 + std::ldexp(1.0, -52);
  sum.add_product(x, x);
  sum.add(-1.0);
  sum.add(-std::ldexp(1.0, -51));
  EXPECT_EQ(sum.value(), std::ldexp(1.0, -104));
}

TEST(ExactSum, PairHasWhatRoundingLoses) {
  ExactSum sum = sum_of({1.0, std::ldexp(1.0, -60)});
  EXPECT_EQ(sum.pair().high, 1.0);
  EXPECT_EQ(sum.pair().low, std::ldexp(1.0, -60));
}

TEST(ExactSum, TextsAreCanonical) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const ExactSum sum = sum_of(wild_numbers(20, seed));
    EXPECT_TRUE(ExactSum::parse(sum.text()) == sum);
    EXPECT_EQ(ExactSum::parse(sum.text()).text(), sum.text());
  }
  for (const char* text : {"", "-", "1", ":1", "3:", "3:g", "3:01", "3:100000000", "x:1", "70:1", "--1:1",
                           "69:1ffffffff", "34:1 ", "-0", "1:1:1", "+3:1"})
    EXPECT_THROW(ExactSum::parse(text), Error) << text;
}

TEST(ExactSum, CarriesInTime) {
  ExactSum sum;
  for (int i = 0; i < 100000; ++i) sum.add(-4294967295.0);
  EXPECT_EQ(sum.value(), -4294967295.0 * 100000);
}

}  // namespace
}  // namespace assay::exact_sum_test
