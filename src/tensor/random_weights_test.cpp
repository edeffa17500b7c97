#include "tensor/random_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"

namespace assay::weights_test {
namespace {

struct Summary {
  double mean = 0, deviation = 0, kurtosis = 0, least = 0, largest = 0;
};

Summary summarize(const Tensor& t) {
  Summary s;
  const auto x = t.span<float>();
  for (const float v : x) s.mean += v / static_cast<double>(x.size());
  double fourth = 0, second = 0;
  for (const float v : x) {
    const double d = v - s.mean;
    second += d * d / static_cast<double>(x.size());
    fourth += d * d * d * d / static_cast<double>(x.size());
  }
  s.deviation = std::sqrt(second);
  s.kurtosis = fourth / (second * second) - 3;
  s.least = *std::min_element(x.begin(), x.end());
  s.largest = *std::max_element(x.begin(), x.end());
  return s;
}

TEST(Weights, NormalsHaveTheirMoments) {
  const Summary s = summarize(random_weights(1, "w", {1000000}, Init::normal(0.5, 2.0)));
  EXPECT_NEAR(s.mean, 2.0, 0.002);
  EXPECT_NEAR(s.deviation, 0.5, 0.002);
  EXPECT_NEAR(s.kurtosis, -0.15, 0.02);
  EXPECT_GT(s.largest, 2 + 0.5 * 4);
  EXPECT_LT(s.least, 2 - 0.5 * 4);
}

TEST(Weights, TruncatedNormalsStayWithinTwoDeviations) {
  const Summary s = summarize(random_weights(1, "w", {1000000}, Init::truncated_normal(0.5)));
  EXPECT_NEAR(s.mean, 0, 0.002);
  EXPECT_NEAR(s.deviation, 0.5 * 0.88, 0.005);
  EXPECT_GE(s.least, -1.0F);
  EXPECT_LE(s.largest, 1.0F);
  EXPECT_GT(s.largest, 0.999F);
}

TEST(Weights, UniformsFillTheirRange) {
  const Summary s = summarize(random_weights(1, "w", {1000000}, Init::uniform(0.25, 1.0)));
  EXPECT_NEAR(s.mean, 1.0, 0.001);
  EXPECT_NEAR(s.deviation, 0.25 / std::sqrt(3.0), 0.001);
  EXPECT_GE(s.least, 0.75F);
  EXPECT_LT(s.least, 0.7501F);
  EXPECT_LE(s.largest, 1.25F);
  EXPECT_GT(s.largest, 1.2499F);
}

TEST(Weights, ConstantsAreConstant) {
  const Summary s = summarize(random_weights(1, "w", {100}, Init::constant(0.75)));
  EXPECT_EQ(s.least, 0.75F);
  EXPECT_EQ(s.largest, 0.75F);
}

TEST(Weights, ScaledInitsHaveTheVarianceOfTheirPapers) {
  EXPECT_NEAR(summarize(random_weights(1, "w", {500000}, Init::he_normal(50))).deviation, 0.2, 0.001);
  EXPECT_NEAR(summarize(random_weights(1, "w", {500000}, Init::lecun_normal(100))).deviation, 0.1, 0.001);
  EXPECT_NEAR(summarize(random_weights(1, "w", {500000}, Init::xavier_uniform(60, 140))).deviation, 0.1,
              0.001);
}

/// These bits may never change: models made by another build, compiler or machine would differ.
TEST(Weights, HaveTheSameBitsEverywhere) {
  const auto bits = [](const Init& init) {
    return random_weights(44, "layer1.0.conv1.weight", {4}, init).bitcast(DType::kInt32).to_int64();
  };
  EXPECT_EQ(bits(Init::normal(1)), (std::vector<int64_t>{-1086972514, 1073808405, 1064086375, -1088413408}));
  // The second is beyond two standard deviations and is drawn again.
  EXPECT_EQ(bits(Init::truncated_normal(1)),
            (std::vector<int64_t>{-1086972514, -1110633392, 1064086375, -1088413408}));
  EXPECT_EQ(bits(Init::uniform(1)), (std::vector<int64_t>{1043958654, -1084504912, 1062942144, 1053727290}));
}

TEST(Weights, DependOnSeedNameAndIndexOnly) {
  const auto draw = [](uint64_t seed, const char* name, Shape shape) {
    return random_weights(seed, name, std::move(shape), Init::normal(1));
  };
  const Tensor a = draw(3, "a", {300, 1000});
  EXPECT_TRUE(a.identical(draw(3, "a", {300, 1000})));
  EXPECT_TRUE(a.reshaped({300000}).identical(draw(3, "a", {300000})));
  EXPECT_TRUE(std::ranges::equal(draw(3, "a", {7}).span<float>(), a.span<float>().first(7)));
  EXPECT_FALSE(a.identical(draw(4, "a", {300, 1000})));
  EXPECT_FALSE(a.identical(draw(3, "b", {300, 1000})));

  const Tensor alone = draw(3, "a", {300, 1000});
  const PoolScope scope(std::make_shared<ThreadPool>(4));
  const Tensor together = draw(3, "a", {300, 1000});
  EXPECT_TRUE(alone.identical(together));
}

TEST(Weights, NeighbouringStreamsAreUncorrelated) {
  const Tensor a = random_weights(0, "layer.0.weight", {100000}, Init::normal(1));
  const Tensor b = random_weights(1, "layer.0.weight", {100000}, Init::normal(1));
  const Tensor c = random_weights(0, "layer.1.weight", {100000}, Init::normal(1));
  const auto correlation = [](std::span<const float> x, std::span<const float> y) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += double{x[i]} * y[i];
    return sum / static_cast<double>(x.size());
  };
  EXPECT_NEAR(correlation(a.span<float>(), b.span<float>()), 0, 0.015);
  EXPECT_NEAR(correlation(a.span<float>(), c.span<float>()), 0, 0.015);
  EXPECT_NEAR(correlation(a.span<float>().first(99999), a.span<float>().last(99999)), 0, 0.015);
}

TEST(Weights, WithoutMemoryAreZeros) {
  // 1 TB of address space: only the touched page exists.
  const Tensor t = weights_without_memory({1 << 20, 1 << 18});
  EXPECT_EQ(t.numel(), int64_t{1} << 38);
  EXPECT_EQ(t.data<float>()[t.numel() - 1], 0.0F);
  EXPECT_EQ(weights_without_memory({0}).numel(), 0);
}

TEST(Weights, PartsAreTheSameNumbers) {
  const Tensor all = random_weights(3, "w", {100'000}, Init::normal(1));
  std::vector<float> part(50'000);
  fill_random_weights(3, "w", Init::normal(1), 12'345, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), all.data<float>() + 12'345));
}

}  // namespace
}  // namespace assay::weights_test
