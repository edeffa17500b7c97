#include "engine/planner/tensor_range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace assay::tensor_range_test {
namespace {

using engine::least_divergence;
using engine::TensorRange;
using enum CalibrationAlgorithm;

/// The divergence of keeping the first bins, as the definition says it.
double divergence(const std::vector<int64_t>& counts, size_t kept, size_t levels) {
  std::vector<double> p(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(kept)), q(kept);
  for (size_t level = 0; level < levels; ++level) {
    const size_t a = level * kept / levels, b = (level + 1) * kept / levels;
    const double sum = std::accumulate(p.begin() + static_cast<std::ptrdiff_t>(a),
                                       p.begin() + static_cast<std::ptrdiff_t>(b), 0.0);
    const auto filled = static_cast<double>(std::count_if(p.begin() + static_cast<std::ptrdiff_t>(a),
                                                          p.begin() + static_cast<std::ptrdiff_t>(b),
                                                          [](double x) { return x > 0; }));
    for (size_t i = a; i < b; ++i) q[i] = p[i] > 0 ? sum / filled : 0;
  }
  p.back() += static_cast<double>(
      std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(kept), counts.end(), int64_t{0}));
  const double p_sum = std::accumulate(p.begin(), p.end(), 0.0),
               q_sum = std::accumulate(q.begin(), q.end(), 0.0);
  double d = 0;
  for (size_t i = 0; i < kept; ++i) {
    if (p[i] == 0) continue;
    if (q[i] == 0) return std::numeric_limits<double>::infinity();
    d += p[i] / p_sum * std::log(p[i] / p_sum / (q[i] / q_sum));
  }
  return d;
}

TEST(LeastDivergence, ByHand) {
  // Two levels of two bins each lose nothing where the two are alike; without the last bin the third has two.
  EXPECT_EQ(least_divergence(std::vector<int64_t>{4, 4, 1, 1}, 2), 4U);
  // Bins apart, and one number far away: as three bins, (8 | 2, 0) and 1 beyond in an empty bin cannot be;
  // two bins (8, 2 + 1) against (8, 2) lose 8/11 log(10/11) + 3/11 log(3/2 10/11) = 0.0153; all four, (8, 2 |
  // 0, 1) against (5, 5 | 0, 1), lose 8/11 log(8/5) + 2/11 log(2/5) = 0.175.
  EXPECT_EQ(least_divergence(std::vector<int64_t>{8, 2, 0, 1}, 2), 2U);
  // No more bins than levels: nothing is lost.
  EXPECT_EQ(least_divergence(std::vector<int64_t>{8, 2, 1}, 3), 3U);
}

TEST(LeastDivergence, IsTheDefinitionsLeast) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t levels = 2 + random() % 6, bins = levels + random() % 40;
    std::vector<int64_t> counts(bins);
    for (size_t i = 0; i < bins; ++i)
      counts[i] = random() % 3 == 0 ? 0 : static_cast<int64_t>(random() % (1 + 1000 / (i + 1)));
    counts.back() = 1 + static_cast<int64_t>(random() % 3);
    const size_t got = least_divergence(counts, static_cast<int64_t>(levels));
    ASSERT_GE(got, levels);
    ASSERT_LE(got, bins);
    const double of_got = divergence(counts, got, levels);
    for (size_t kept = levels; kept <= bins; ++kept)
      ASSERT_GE(divergence(counts, kept, levels), of_got - 1e-9)
          << "round " << round << ", " << kept << " instead of " << got;
  }
}

std::vector<float> normal(size_t count, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  std::vector<float> numbers(count);
  for (float& x : numbers) x = draw(random);
  return numbers;
}

TEST(TensorRange, TheLargestMagnitude) {
  TensorRange range(false);
  EXPECT_EQ(range.scale(kMinMax, 1), 0);
  range.add(std::vector<float>{0, 1.5F, -2.54F, 0});
  range.add(std::vector<float>{1});
  EXPECT_EQ(range.largest(), 2.54F);
  EXPECT_EQ(range.count(), 5);
  EXPECT_FLOAT_EQ(range.scale(kMinMax, 1), 0.02F);
}

TEST(TensorRange, Quantiles) {
  TensorRange range(true);
  // A hundred magnitudes, 0.01 to 1, apart by more than a bin of 1 / 2048.
  std::vector<float> numbers;
  for (int i = 1; i <= 100; ++i) numbers.push_back((i % 2 == 0 ? 1.0F : -1.0F) * static_cast<float>(i) / 100);
  range.add(numbers);
  EXPECT_NEAR(range.limit(kLegacy, 0.5), 0.5, 1.0 / 2048);
  EXPECT_NEAR(range.limit(kLegacy, 0.99), 0.99, 1.0 / 2048);
  EXPECT_EQ(range.limit(kLegacy, 1), 1);
  // Zeros count.
  range.add(std::vector<float>(100));
  EXPECT_EQ(range.limit(kLegacy, 0.5), 0);
  EXPECT_NEAR(range.limit(kLegacy, 0.75), 0.5, 1.0 / 2048);
}

TEST(TensorRange, EntropyClipsWhatIsRare) {
  // A large sample of normal numbers, and one that lies far away: the levels are for the many.
  std::vector<float> numbers = normal(1'000'000);
  numbers.push_back(40);
  TensorRange range(true);
  range.add(numbers);
  EXPECT_EQ(range.limit(kMinMax, 1), 40);
  EXPECT_GT(range.limit(kEntropy2, 1), 2.5F);
  EXPECT_LT(range.limit(kEntropy2, 1), 8);
  EXPECT_EQ(range.limit(kEntropy, 1), range.limit(kEntropy2, 1));
}

/// The mean square of what 8 bits with this limit make of the numbers.
double mean_square(std::span<const float> numbers, float limit) {
  const double step = limit / 127.0;
  double sum = 0;
  for (const float x : numbers) {
    const double error = x - step * std::clamp(std::nearbyint(x / step), -127.0, 127.0);
    sum += error * error;
  }
  return sum / static_cast<double>(numbers.size());
}

/// Scores of attention: nearly all numbers are small, and one in a hundred is many times larger, as in
/// segformer's last products, of which the divergence alone would cut off so many.
TEST(TensorRange, EntropyClipsNoMoreThanItGains) {
  std::mt19937 random(3);
  std::normal_distribution<float> draw;
  std::vector<float> numbers;
  for (int i = 0; i < 300'000; ++i) numbers.push_back(draw(random) * (i % 80 == 0 ? 8.0F : 0.5F));
  TensorRange range(true);
  range.add(numbers);
  const float limit = range.limit(kEntropy2, 1);
  EXPECT_GE(limit, range.limit(kMeanSquaredError, 1));
  EXPECT_LE(mean_square(numbers, limit), 1.01 * mean_square(numbers, range.limit(kMinMax, 1)));
}

TEST(TensorRange, EntropyKeepsWhatIsEven) {
  TensorRange range(true);
  std::vector<float> numbers;
  for (int i = 0; i < 500'000; ++i) numbers.push_back(static_cast<float>(i % 10'000) / 10'000);
  range.add(numbers);
  EXPECT_GT(range.limit(kEntropy2, 1), 0.99F);
}

TEST(TensorRange, LeastMeanSquare) {
  std::mt19937 random(9);
  std::exponential_distribution<float> tail;
  std::vector<float> far = normal(100'000), heavy, even;
  far.push_back(40);
  for (int i = 0; i < 100'000; ++i) {
    heavy.push_back(std::pow(tail(random), 3.0F));
    even.push_back(static_cast<float>(i % 1000) / 1000);
  }
  for (const auto& numbers : {far, heavy, even, normal(50)}) {
    TensorRange range(true);
    range.add(numbers);
    const double least = mean_square(numbers, range.limit(kMeanSquaredError, 1));
    for (const CalibrationAlgorithm other : {kMinMax, kEntropy2, kLegacy})
      EXPECT_LE(least, 1.01 * mean_square(numbers, range.limit(other, 0.9999))) << static_cast<int>(other);
    for (float limit = range.largest(); limit > range.largest() / 100; limit *= 0.9F)
      EXPECT_LE(least, 1.05 * mean_square(numbers, limit)) << limit;
  }
}

TEST(TensorRange, FewNumbersAreNotClipped) {
  TensorRange range(true);
  std::vector<float> numbers = normal(1000);
  range.add(numbers);
  EXPECT_EQ(range.limit(kEntropy2, 1), range.largest());
}

TEST(TensorRange, PartsAndOrderDoNotMatter) {
  std::vector<float> numbers = normal(300'000, 5);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] *= std::ldexp(1.0F, static_cast<int>(i * 20 / numbers.size()) - 10);
  const auto limits = [&](size_t part) {
    TensorRange range(true);
    for (size_t at = 0; at < numbers.size(); at += part)
      range.add(std::span(numbers).subspan(at, std::min(part, numbers.size() - at)));
    return std::vector<float>{range.limit(kEntropy2, 1), range.limit(kLegacy, 0.999),
                              range.limit(kMinMax, 1)};
  };
  const std::vector<float> whole = limits(numbers.size());
  EXPECT_EQ(limits(7), whole);
  EXPECT_EQ(limits(8192), whole);
  std::reverse(numbers.begin(), numbers.end());
  EXPECT_EQ(limits(1000), whole);
}

TEST(TensorRange, InfinitiesAndNansGiveNoScale) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  TensorRange range(true);
  range.add(std::vector<float>{1, -kInfinity, std::nanf(""), 2});
  EXPECT_EQ(range.not_finite(), 2);
  EXPECT_EQ(range.largest(), 2);
  for (const CalibrationAlgorithm a : {kMinMax, kEntropy2, kLegacy, kMeanSquaredError})
    EXPECT_EQ(range.scale(a, 0.9), 0);
}

TEST(TensorRange, ExtremeMagnitudes) {
  constexpr float kMax = std::numeric_limits<float>::max(), kMin = std::numeric_limits<float>::denorm_min();
  for (const CalibrationAlgorithm a : {kMinMax, kEntropy2, kLegacy}) {
    TensorRange large(true), small(true);
    large.add(std::vector<float>{kMax, kMin, 1});
    EXPECT_EQ(large.limit(a, 1), kMax);
    EXPECT_TRUE(std::isfinite(large.scale(a, 1)));
    small.add(std::vector<float>{kMin, 0});
    EXPECT_EQ(small.limit(a, 1), kMin);
    EXPECT_EQ(small.scale(a, 1), 0) << "a scale below the normal numbers is none";
  }
  TensorRange large(true), small(true);
  large.add(std::vector<float>{kMax, kMin, 1});
  small.add(std::vector<float>{kMin, 0});
  EXPECT_TRUE(std::isfinite(large.scale(kMeanSquaredError, 1)));
  EXPECT_EQ(small.scale(kMeanSquaredError, 1), 0);
}

/// Parts add up to the state of all numbers, whichever reaches farther, also through what is stored.
TEST(TensorRange, PartsAddUpExactly) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(5000);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = std::ldexp(normal(random), static_cast<int>(i / 1000));
  numbers[7] = 0;
  numbers[8] = std::numeric_limits<float>::infinity();
  for (const bool counts : {true, false}) {
    TensorRange whole(counts), left(counts), right(counts);
    const std::span<const float> all(numbers);
    whole.add(all);
    left.add(all.subspan(0, 1700));
    right.add(all.subspan(1700));
    for (const auto& [first, second] : {std::pair(left, right), std::pair(right, left)}) {
      TensorRange sum(first.state());
      sum.add(TensorRange(second.state()));
      sum.add(TensorRange(counts));
      const TensorRange::State found = sum.state(), expected = whole.state();
      EXPECT_EQ(found.counts, expected.counts);
      EXPECT_EQ(found.largest, expected.largest);
      EXPECT_EQ(found.exponent, expected.exponent);
      EXPECT_EQ(found.zeros, 1);
      EXPECT_EQ(found.counted, 4998);
      EXPECT_EQ(found.not_finite, 1);
    }
    EXPECT_THROW(left.add(TensorRange(!counts)), Error);
  }
  TensorRange range(true);
  range.add(std::vector<float>{1, 2});
  TensorRange::State impossible = range.state();
  impossible.counted = 3;
  EXPECT_THROW(TensorRange{impossible}, Error);
}

}  // namespace
}  // namespace assay::tensor_range_test
