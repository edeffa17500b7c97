#include "eval/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assay/error.h"

namespace assay::eval::metric_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<double> measure(const char* name, const Tensor& output, const Tensor* golden,
                            const std::vector<int64_t>& labels = {}) {
  std::vector<double> observations;
  Metric::parse(name).measure({output, golden, labels}, observations);
  return observations;
}

TEST(Metric, TopK) {
  const Tensor y = Tensor::from<float>({3, 4}, {1, 4, 2, 3, 5, 5, 0, 0, 1, 0, 0, 0});
  EXPECT_EQ(measure("top1", y, nullptr, {1, 1, 3}), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(measure("top2", y, nullptr, {3, 1, 3}), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(measure("top4", y, nullptr, {0, 3, 3}), (std::vector<double>{1, 1, 1}));
  EXPECT_TRUE(std::isnan(measure("top1", Tensor::from<float>({1, 2}, {kNaN, 1}), nullptr, {1})[0]));
  EXPECT_EQ(measure("top1", Tensor::vector<int64_t>({7, 8}), nullptr, {7, 9}), (std::vector<double>{1, 0}));
  EXPECT_THROW(measure("top1", y, nullptr, {4}), Error);
  EXPECT_THROW(measure("top1", y, nullptr, {-1}), Error);
  EXPECT_THROW(measure("top1", y, nullptr, {0, 0, 0, 0}), Error);
}

TEST(Metric, Perplexity) {
  const Tensor y = Tensor::from<float>({1, 2, 2}, {1000, 1000, 0, std::log(3.0F)});
  const std::vector<double> o = measure("perplexity", y, nullptr, {0, 1});
  EXPECT_NEAR(o[0], std::log(2.0), 1e-12);
  EXPECT_NEAR(o[1], -std::log(0.75), 1e-7);
}

TEST(Metric, AgainstAGoldenOutput) {
  const Tensor g = Tensor::from<float>({2, 2}, {3, 0, 0, 4}), y = Tensor::from<float>({2, 2}, {3, 0, 1, 0});
  EXPECT_EQ(measure("agreement", y, &g), (std::vector<double>{1, 0}));
  EXPECT_EQ(measure("first-difference", y, &g), (std::vector<double>{1}));
  EXPECT_EQ(measure("first-difference", g, &g), (std::vector<double>{INFINITY}));
  EXPECT_DOUBLE_EQ(measure("sqnr", y, &g)[0], 10 * std::log10(25.0 / 17));
  EXPECT_DOUBLE_EQ(measure("psnr", y, &g)[0], 10 * std::log10(16.0 / (17.0 / 4)));
  EXPECT_DOUBLE_EQ(measure("cosine", y, &g)[0], 9 / (5 * std::sqrt(10.0)));
  EXPECT_DOUBLE_EQ(measure("mean-error", y, &g)[0], 5.0 / 4);
  EXPECT_DOUBLE_EQ(measure("max-error", y, &g)[0], 4);
}

TEST(Metric, PerfectResultsArePerfect) {
  const Tensor y = Tensor::from<float>({1, 3}, {0.1F, 0.7F, -0.3F});
  for (const MetricDef& def : metric_defs()) {
    if (def.truth != Truth::kGolden) continue;
    EXPECT_EQ(measure(std::string(def.name).c_str(), y, &y)[0], def.perfect) << def.name;
  }
  EXPECT_EQ(measure("top1", y, nullptr, {1})[0], 1);
}

TEST(Metric, NaNIsNoNumber) {
  const Tensor g = Tensor::from<float>({1, 2}, {1, 2}), y = Tensor::from<float>({1, 2}, {1, kNaN});
  for (const char* name : {"agreement", "sqnr", "psnr", "cosine", "mean-error", "max-error"})
    EXPECT_TRUE(std::isnan(measure(name, y, &g)[0])) << name;
}

TEST(Metric, RefusesWhatItIsNotFor) {
  const Tensor a = Tensor::from<float>({1, 2}, {1, 2}), b = Tensor::from<float>({2}, {1, 2});
  EXPECT_THROW(measure("sqnr", a, &b), Error);
  const Tensor text = Tensor::vector<std::string>({"a"});
  EXPECT_THROW(measure("sqnr", text, &text), Error);
  for (const char* name : {"top", "top0", "top-1", "top1x", "snr", "", ":y"})
    EXPECT_THROW(Metric::parse(name), Error) << name;
  EXPECT_EQ(Metric::parse("top5:y:0").output(), "y:0");
  EXPECT_EQ(Metric::parse("top5:y:0").text(), "top5:y:0");
}

}  // namespace
}  // namespace assay::eval::metric_test
