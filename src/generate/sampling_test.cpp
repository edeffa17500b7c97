#include "generate/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace assay::generate::sampling_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

Tensor row(const std::vector<float>& logits) { return Tensor::vector<float>(logits); }

std::map<int64_t, int> draws(const Sampling& sampling, const Tensor& logits, int count = 4000) {
  Sampler sampler(sampling);
  std::map<int64_t, int> drawn;
  for (int i = 0; i < count; ++i) ++drawn[sampler.next(logits)];
  return drawn;
}

TEST(SamplerTest, GreedyTakesTheFirstOfTheLargest) {
  EXPECT_EQ(Sampler({}).next(row({1, 3, 2, 3})), 1);
  EXPECT_EQ(Sampler({}).next(row({-kInf, -5, kInf})), 2);
}

TEST(SamplerTest, FrequenciesAreProbabilities) {
  const std::map<int64_t, int> drawn = draws({.temperature = 0.5}, row({0, 0.5F, 1}));
  const double sum = 1 + std::exp(1.0) + std::exp(2.0);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(drawn.at(i) / 4000.0, std::exp(i) / sum, 0.03) << i;
}

TEST(SamplerTest, TopKAndTopP) {
  const Tensor logits = row({0, 2, 1, 3});
  const auto two = draws({.temperature = 1, .top_k = 2}, logits);
  EXPECT_EQ(two.size(), 2U);
  EXPECT_TRUE(two.contains(3) && two.contains(1));
  // The probabilities are 0.64, 0.24, 0.09, 0.03.
  EXPECT_EQ(draws({.temperature = 1, .top_p = 0.6}, logits).size(), 1U);
  EXPECT_EQ(draws({.temperature = 1, .top_p = 0.7}, logits).size(), 2U);
  EXPECT_EQ(draws({.temperature = 1, .top_p = 1}, logits).size(), 4U);
}

TEST(SamplerTest, ASeedDrawsTheSame) {
  Sampler a({.temperature = 1, .seed = 5}), b({.temperature = 1, .seed = 5}),
      c({.temperature = 1, .seed = 6});
  const Tensor logits = row(std::vector<float>(50, 0));
  bool differs = false;
  for (int i = 0; i < 20; ++i) {
    const int64_t token = a.next(logits);
    EXPECT_EQ(token, b.next(logits));
    differs = differs || token != c.next(logits);
  }
  EXPECT_TRUE(differs);
}

TEST(SamplerTest, WhatCannotBeChosenFrom) {
  EXPECT_THROW(Sampler({}).next(row({1, kNaN})), Error);
  EXPECT_THROW(Sampler({.temperature = 1}).next(row({-kInf, -kInf})), Error);
  EXPECT_THROW(check_sampling({.temperature = -1}), Error);
  EXPECT_THROW(check_sampling({.temperature = kNaN}), Error);
  EXPECT_THROW(check_sampling({.top_k = -1}), Error);
  EXPECT_THROW(check_sampling({.top_p = 0}), Error);
  EXPECT_THROW(check_sampling({.top_p = 1.5}), Error);
}

TEST(MostLikely, InOrder) {
  const std::vector<RankedToken> best = most_likely(row({1, 3, 2}), 2);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].token, 1);
  EXPECT_EQ(best[1].token, 2);
  EXPECT_EQ(best[1].logit, 2);
  EXPECT_EQ(most_likely(row({1}), 2).size(), 1U);
}

}  // namespace
}  // namespace assay::generate::sampling_test
