// Distance and quality metrics.
#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "compare/compare_test_util.h"
#include "compare/metrics.h"
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

std::string log_of(const Comparison& comparison, TensorList list0, TensorList list1) {
  const log::Capture capture;
  compare_outputs(comparison, OutputList("A", std::move(list0)), OutputList("B", std::move(list1)));
  return capture.out();
}

TEST(Distance, Log) {
  EXPECT_EQ(log_of(DistanceComparison({}), {{"y", a()}, {"z", a()}}, {{"y", b()}, {"z", a()}}),
            R"([I] Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]     Tolerance: [L2=1e-05, Cosine Similarity min=0.997]
[I]     A: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]         ---- Values ----
                [1. 2. 3. 4.]
[I]         ---- Histogram ----
            Bin Range  |  Num Elems | Visualization
            (1  , 1.4) |          1 | ########################################
            (1.4, 1.8) |          0 | 
            (1.8, 2.2) |          1 | ########################################
            (2.2, 2.6) |          0 | 
            (2.6, 3  ) |          0 | 
            (3  , 3.4) |          1 | ########################################
            (3.4, 3.8) |          0 | 
            (3.8, 4.2) |          1 | ########################################
            (4.2, 4.6) |          0 | 
            (4.6, 5  ) |          0 | 
[I]     B: y | Stats: mean=2.75, std-dev=1.479, var=2.1875, median=2.5, min=1 at (0,), max=5 at (3,), avg-magnitude=2.75, p90=4.4, p95=4.7, p99=4.94
[I]         ---- Values ----
                [1. 2. 3. 5.]
[I]         ---- Histogram ----
            Bin Range  |  Num Elems | Visualization
            (1  , 1.4) |          1 | ########################################
            (1.4, 1.8) |          0 | 
            (1.8, 2.2) |          1 | ########################################
            (2.2, 2.6) |          0 | 
            (2.6, 3  ) |          0 | 
            (3  , 3.4) |          1 | ########################################
            (3.4, 3.8) |          0 | 
            (3.8, 4.2) |          0 | 
            (4.2, 4.6) |          0 | 
            (4.6, 5  ) |          1 | ########################################
[I]     Distance Metrics: y
[I]         L2 Norm: 1 (tolerance: 1e-05) | FAILED
[I]         Cosine Similarity: 0.994 (threshold: 0.997) | FAILED
[E]     FAILED | Output: 'y' | L2 Norm (1) exceeds tolerance (1e-05)
[E]     FAILED | Output: 'y' | Cosine Similarity (0.994) below threshold (0.997)
[I] Comparing Output: 'z' (dtype=float32, shape=(4,)) with 'z' (dtype=float32, shape=(4,))
[I]     Tolerance: [L2=1e-05, Cosine Similarity min=0.997]
[I]     A: z | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]     B: z | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]     Distance Metrics: z
[I]         L2 Norm: 0 (tolerance: 1e-05) | PASSED
[I]         Cosine Similarity: 1 (threshold: 0.997) | PASSED
[I]     PASSED | Output: 'z' | All metrics passed: L2 Norm, Cosine Similarity
[E] FAILED | Mismatched outputs: ['y']
)");
}

TEST(Distance, LogOfOppositeVectors) {
  DistanceOptions options{.cosine_similarity_threshold = 0.9999};
  options.l2_tolerance.set("y", 2);
  EXPECT_EQ(
      log_of(DistanceComparison(options), {{"y", a()}}, {{"y", Tensor::vector<float>({-1, -2, -3, -5})}}),
      R"([I] Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]     Tolerance: [L2=2, Cosine Similarity min=0.9999]
[I]     A: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]         ---- Values ----
                [1. 2. 3. 4.]
[I]         ---- Histogram ----
            Bin Range    |  Num Elems | Visualization
            (-5  , -4.1) |          0 | 
            (-4.1, -3.2) |          0 | 
            (-3.2, -2.3) |          0 | 
            (-2.3, -1.4) |          0 | 
            (-1.4, -0.5) |          0 | 
            (-0.5, 0.4 ) |          0 | 
            (0.4 , 1.3 ) |          1 | ########################################
            (1.3 , 2.2 ) |          1 | ########################################
            (2.2 , 3.1 ) |          1 | ########################################
            (3.1 , 4   ) |          1 | ########################################
[I]     B: y | Stats: mean=-2.75, std-dev=1.479, var=2.1875, median=-2.5, min=-5 at (3,), max=-1 at (0,), avg-magnitude=2.75, p90=-1.3, p95=-1.15, p99=-1.03
[I]         ---- Values ----
                [-1. -2. -3. -5.]
[I]         ---- Histogram ----
            Bin Range    |  Num Elems | Visualization
            (-5  , -4.1) |          1 | ########################################
            (-4.1, -3.2) |          0 | 
            (-3.2, -2.3) |          1 | ########################################
            (-2.3, -1.4) |          1 | ########################################
            (-1.4, -0.5) |          1 | ########################################
            (-0.5, 0.4 ) |          0 | 
            (0.4 , 1.3 ) |          0 | 
            (1.3 , 2.2 ) |          0 | 
            (2.2 , 3.1 ) |          0 | 
            (3.1 , 4   ) |          0 | 
[I]     Distance Metrics: y
[I]         L2 Norm: 11.705 (tolerance: 2) | FAILED
[I]         Cosine Similarity: -0.994 (threshold: 0.9999) | FAILED
[E]     FAILED | Output: 'y' | L2 Norm (11.705) exceeds tolerance (2)
[E]     FAILED | Output: 'y' | Cosine Similarity (-0.994) below threshold (0.9999)
[E] FAILED | Mismatched outputs: ['y']
)");
}

TEST(Quality, Log) {
  EXPECT_EQ(log_of(QualityComparison({}), {{"y", a()}, {"z", a()}}, {{"y", b()}, {"z", a()}}),
            R"([I] Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]     Quality Metrics Tolerance: [PSNR min=30 dB, SNR min=20 dB]
[I]     A: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]         ---- Values ----
                [1. 2. 3. 4.]
[I]         ---- Histogram ----
            Bin Range  |  Num Elems | Visualization
            (1  , 1.4) |          1 | ########################################
            (1.4, 1.8) |          0 | 
            (1.8, 2.2) |          1 | ########################################
            (2.2, 2.6) |          0 | 
            (2.6, 3  ) |          0 | 
            (3  , 3.4) |          1 | ########################################
            (3.4, 3.8) |          0 | 
            (3.8, 4.2) |          1 | ########################################
            (4.2, 4.6) |          0 | 
            (4.6, 5  ) |          0 | 
[I]     B: y | Stats: mean=2.75, std-dev=1.479, var=2.1875, median=2.5, min=1 at (0,), max=5 at (3,), avg-magnitude=2.75, p90=4.4, p95=4.7, p99=4.94
[I]         ---- Values ----
                [1. 2. 3. 5.]
[I]         ---- Histogram ----
            Bin Range  |  Num Elems | Visualization
            (1  , 1.4) |          1 | ########################################
            (1.4, 1.8) |          0 | 
            (1.8, 2.2) |          1 | ########################################
            (2.2, 2.6) |          0 | 
            (2.6, 3  ) |          0 | 
            (3  , 3.4) |          1 | ########################################
            (3.4, 3.8) |          0 | 
            (3.8, 4.2) |          0 | 
            (4.2, 4.6) |          0 | 
            (4.6, 5  ) |          1 | ########################################
[I]     Quality Metrics: y
[I]         PSNR: 18.062 dB (min required: 30 dB) | FAILED
[I]         SNR: 14.771 dB (min required: 20 dB) | FAILED
[E]     FAILED | Output: 'y' | PSNR (18.062 dB) below required minimum (30 dB)
[E]     FAILED | Output: 'y' | SNR (14.771 dB) below required minimum (20 dB)
[I] Comparing Output: 'z' (dtype=float32, shape=(4,)) with 'z' (dtype=float32, shape=(4,))
[I]     Quality Metrics Tolerance: [PSNR min=30 dB, SNR min=20 dB]
[I]     A: z | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]     B: z | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]     Quality Metrics: z
[I]         PSNR: inf dB (min required: 30 dB) | PASSED
[I]         SNR: inf dB (min required: 20 dB) | PASSED
[I]     PASSED | Output: 'z' | All quality metrics passed: PSNR, SNR
[E] FAILED | Mismatched outputs: ['y']
)");
}

TEST(Quality, EachRatioCanBeLeftOut) {
  const std::string log = log_of(QualityComparison({.psnr_tolerance = std::nullopt, .snr_tolerance = 10.0}),
                                 {{"y", a()}}, {{"y", b()}});
  EXPECT_NE(log.find("Quality Metrics Tolerance: [SNR min=10 dB]\n"), log.npos) << log;
  EXPECT_EQ(log.find("PSNR"), log.npos) << log;
  EXPECT_NE(log.find("PASSED | Output: 'y' | All quality metrics passed: SNR\n"), log.npos) << log;
  const std::string none =
      log_of(QualityComparison({.psnr_tolerance = std::nullopt, .snr_tolerance = std::nullopt}), {{"y", a()}},
             {{"y", b()}});
  EXPECT_NE(none.find("[W]     No quality metrics enabled for comparison\n"), none.npos) << none;
  EXPECT_NE(none.find("[W]     PASSED | Output: 'y' | No quality metrics were successfully computed\n"),
            none.npos)
      << none;
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
