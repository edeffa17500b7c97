// Distance and quality metrics.
#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "compare/compare_test_util.h"
#include "compare/metrics.h"
#include "compare/report.h"
#include "tensor/convert.h"

namespace assay::metrics_test {
namespace {

const Tensor& a() {
  static const Tensor t = Tensor::vector<float>({1, 2, 3, 4});
  return t;
}
const Tensor& b() {
  static const Tensor t = Tensor::vector<float>({1, 2, 3, 5});
  return t;
}

std::string log_of(CompareFunction metric, TensorList list0, TensorList list1, MetricOptions options = {}) {
  const log::Capture capture;
  print_comparison(std::make_shared<MetricComparison>(metric, std::move(options)), std::move(list0),
                   std::move(list1));
  return capture.out();
}

OutputResult result_of(CompareFunction metric, const Tensor& x, const Tensor& y, MetricOptions options = {}) {
  const log::Capture capture;
  return print_comparison(std::make_shared<MetricComparison>(metric, std::move(options)), {{"y", x}},
                          {{"y", y}})
      .functions.at(0)
      .outputs.at(0);
}

TEST(MetricComparison, Log) {
  EXPECT_EQ(
      log_of(CompareFunction::kL2, {{"y", a()}, {"z", a()}}, {{"y", a()}, {"z", a()}}),
      R"([I] L2 Norm | Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]     L2 Norm: 0 (tolerance: 1e-05) | PASSED
[I] L2 Norm | Comparing Output: 'z' (dtype=float32, shape=(4,)) with 'z' (dtype=float32, shape=(4,))
[I]     L2 Norm: 0 (tolerance: 1e-05) | PASSED
[I] PASSED | L2 Norm | All outputs matched | Outputs: ['y', 'z']
[I] A: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I] B: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I] A: z | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I] B: z | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
)");
}

TEST(MetricComparison, EachMetricHasItsLine) {
  const auto has = [](CompareFunction metric, const std::string& line) {
    const std::string log = log_of(metric, {{"y", a()}}, {{"y", b()}});
    EXPECT_NE(log.find(line), log.npos) << log;
  };
  has(CompareFunction::kL2,
      "[E]     L2 Norm: 1 (tolerance: 1e-05) | FAILED\n[E] FAILED | L2 Norm | Mismatched outputs: ['y']\n");
  has(CompareFunction::kCosineSimilarity,
      "[E]     Cosine Similarity: 0.994 (min required: 0.997) | FAILED\n");
  has(CompareFunction::kPsnr, "[E]     PSNR: 18.062 dB (min required: 30 dB) | FAILED\n");
  has(CompareFunction::kSnr, "[E]     SNR: 14.771 dB (min required: 20 dB) | FAILED\n");
}

TEST(MetricComparison, DigitsTellAValueFromItsThreshold) {
  EXPECT_EQ(metric_text(CompareFunction::kL2, 1.0000001e-05, {1e-5}),
            "L2 Norm: 1.0000001e-05 (tolerance: 1e-05) | FAILED");
  EXPECT_EQ(metric_text(CompareFunction::kPsnr, 30, {30}), "PSNR: 30 dB (min required: 30 dB) | PASSED");
}

TEST(MetricComparison, ThresholdsPerOutput) {
  MetricOptions options;
  options.threshold.set("y", 2);
  EXPECT_TRUE(result_of(CompareFunction::kL2, a(), b(), options).passed);
  EXPECT_TRUE(
      std::get<MetricThreshold>(result_of(CompareFunction::kL2, a(), b(), options).threshold).value.integral);
  options.threshold.set("y", 0.5);
  EXPECT_FALSE(result_of(CompareFunction::kL2, a(), b(), options).passed);
  EXPECT_TRUE(result_of(CompareFunction::kSnr, a(), b(), {.threshold = Tolerance(14.7)}).passed);
  EXPECT_FALSE(result_of(CompareFunction::kSnr, a(), b(), {.threshold = Tolerance(14.8)}).passed);
}

TEST(MetricComparison, TruthValuesAreNumbers) {
  const Tensor x = Tensor::vector<bool>({true, false, true}), y = Tensor::vector<bool>({true, true, false});
  EXPECT_DOUBLE_EQ(std::get<double>(result_of(CompareFunction::kL2, x, y).metrics), std::sqrt(2.0));
  EXPECT_EQ(std::get<double>(result_of(CompareFunction::kPsnr, x, x).metrics), INFINITY);
}

TEST(MetricComparison, NaNFailsAndIntegersDoNotWrapAround) {
  const Tensor nan = Tensor::vector<float>({NAN});
  for (const auto metric : {CompareFunction::kL2, CompareFunction::kCosineSimilarity, CompareFunction::kPsnr,
                            CompareFunction::kSnr})
    EXPECT_FALSE(result_of(metric, nan, nan).passed);
  const Tensor low = Tensor::vector<int32_t>({INT32_MIN}), high = Tensor::vector<int32_t>({INT32_MAX});
  EXPECT_EQ(std::get<double>(result_of(CompareFunction::kL2, low, high).metrics), 4294967295.0);
  EXPECT_FALSE(result_of(CompareFunction::kPsnr, low, high).passed);
  EXPECT_EQ(l2_distance(Tensor::vector<int64_t>({INT64_MAX}), Tensor::vector<int64_t>({INT64_MAX - 1})), 1);
}

TEST(MetricComparison, WhatCannotBeComparedFails) {
  const std::string shapes = log_of(CompareFunction::kSnr, {{"y", a()}}, {{"y", Tensor::vector<float>({1})}});
  EXPECT_NE(shapes.find("[E]     FAILED | Output: `y` | Will not compare outputs of different shapes.\n"),
            shapes.npos)
      << shapes;
  const std::string types = log_of(CompareFunction::kSnr, {{"y", Tensor::vector<std::string>({"a"})}},
                                   {{"y", Tensor::vector<std::string>({"a"})}});
  EXPECT_NE(types.find("[E]     FAILED | Output: 'y' | Cannot compare string with string outputs.\n"),
            types.npos)
      << types;
  EXPECT_EQ(result_of(CompareFunction::kL2, a(), Tensor::vector<float>({1})).obstacle, Obstacle::kShapes);
  EXPECT_THROW(MetricComparison(CompareFunction::kLpips, {}), Error);
}

TEST(Metrics, Values) {
  EXPECT_DOUBLE_EQ(l2_distance(a(), b()), 1);
  EXPECT_DOUBLE_EQ(cosine_similarity(a(), b()), 34 / std::sqrt(30.0 * 39));
  EXPECT_DOUBLE_EQ(peak_signal_to_noise(a(), b()), 20 * std::log10(4.0) - 10 * std::log10(0.25));
  EXPECT_DOUBLE_EQ(signal_to_noise(a(), b()), 10 * std::log10(30.0));
}

TEST(Metrics, EdgeCases) {
  const Tensor zero = Tensor::vector<float>({0, 0}), one = Tensor::vector<float>({0, 1}),
               minus = Tensor::vector<int8_t>({0, -1});
  EXPECT_EQ(cosine_similarity(zero, zero), 1);
  EXPECT_EQ(cosine_similarity(zero, one), 0);
  EXPECT_EQ(cosine_similarity(one, minus), -1);
  EXPECT_TRUE(std::isnan(cosine_similarity(one, Tensor::vector<float>({NAN, 1}))));
  EXPECT_EQ(peak_signal_to_noise(one, one), INFINITY);
  EXPECT_DOUBLE_EQ(peak_signal_to_noise(minus, zero), 10 * std::log10(2.0))
      << "a peak that is not positive counts as 1";
  EXPECT_EQ(signal_to_noise(zero, one), -INFINITY);
  EXPECT_EQ(l2_distance(Tensor::vector<uint8_t>({0, 255}), Tensor::vector<uint8_t>({255, 255})), 255);
  EXPECT_THROW(l2_distance(zero, Tensor::vector<float>({0})), Error);
}

TEST(Metrics, ManyBlocks) {
  const Tensor x = Tensor::vector(std::vector<float>(200000, 2)),
               y = Tensor::vector(std::vector<double>(200000, 3));
  EXPECT_DOUBLE_EQ(l2_distance(x, y), std::sqrt(200000.0));
  EXPECT_DOUBLE_EQ(cosine_similarity(x, y), 1);
}

}  // namespace
}  // namespace assay::metrics_test
