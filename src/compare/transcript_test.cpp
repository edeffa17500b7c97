// The comparison blocks of real Polygraphy sessions, line by line.
#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "compare/accuracy.h"
#include "compare/compare_test_util.h"
#include "compare/postprocess.h"
#include "compare/simple.h"
#include "compare/validate.h"

namespace assay::transcript_test {
namespace {

/// The log of comparing two runners.
std::string comparison_log(const RunnerOutputs& a, const RunnerOutputs& b, SimpleOptions options = {}) {
  const log::Capture capture;
  print_accuracy({a, b}, {.functions = {std::make_shared<SimpleComparison>(std::move(options))}});
  return capture.out();
}

TEST(Transcript, RunCheckErrorStat) {
  // The model: Y = x0 + (a * x1 + b) with a = b = 1.
  NumPyRandom random(1);
  const Tensor x0 = random.sample({1, 3, 224, 224}), x1 = random.sample({1, 3, 224, 224});
  Tensor y = Tensor::allocate(DType::kFloat32, x0.shape());
  for (int64_t i = 0; i < y.numel(); ++i)
    y.mutable_data<float>()[i] = x0.data<float>()[i] + (x1.data<float>()[i] + 1.0f);
  EXPECT_EQ(
      comparison_log(one_iteration("onnxrt-runner-N0-11/20/26-08:02:18", {{"Y", y}}),
                     one_iteration("onnxrt-runner-N1-11/20/26-08:02:18", {{"Y", y}}),
                     {.rtol = Tolerance(1e-3), .atol = Tolerance(1e-3), .check_error_stat = ErrorStat::kMax}),
      R"([I] Accuracy Comparison | onnxrt-runner-N0-11/20/26-08:02:18 vs. onnxrt-runner-N1-11/20/26-08:02:18
[I] Iteration: 0
[I]     simple | Comparing Output: 'Y' (dtype=float32, shape=(1, 3, 224, 224)) with 'Y' (dtype=float32, shape=(1, 3, 224, 224))
[I]         Tolerance: [abs=0.001, rel=0.001] | Checking max error
[I]         Error Metrics: Y
[I]             Minimum Required Tolerance: max error | [abs=0] OR [rel=0]
[I]             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0, 0, 0), max=0 at (0, 0, 0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0, 0, 0), max=0 at (0, 0, 0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]         PASSED | Output: 'Y' | Difference is within tolerance (rel=0.001, abs=0.001)
[I]     PASSED | simple | All outputs matched | Outputs: ['Y']
[I]     onnxrt-runner-N0-11/20/26-08:02:18: Y | Stats: mean=1.9994, std-dev=0.40841, var=0.1668, median=1.9993, min=1.0023 at (0, 1, 122, 218), max=2.9948 at (0, 2, 223, 43), avg-magnitude=1.9994, p90=2.5529, p95=2.6833, p99=2.8565
[I]     onnxrt-runner-N1-11/20/26-08:02:18: Y | Stats: mean=1.9994, std-dev=0.40841, var=0.1668, median=1.9993, min=1.0023 at (0, 1, 122, 218), max=2.9948 at (0, 2, 223, 43), avg-magnitude=1.9994, p90=2.5529, p95=2.6833, p99=2.8565
[I] Accuracy Summary | onnxrt-runner-N0-11/20/26-08:02:18 vs. onnxrt-runner-N1-11/20/26-08:02:18 | Passed: 1/1 iterations | Pass Rate: 100.00%
)");
}

TEST(Transcript, RunDynamicShapes) {
  const Tensor y = NumPyRandom(1).sample({1, 2, 4, 4});
  EXPECT_EQ(
      comparison_log(one_iteration("onnxrt-runner-N0-11/20/26-08:02:16", {{"Y", y}}),
                     one_iteration("onnxrt-runner-N1-11/20/26-08:02:16", {{"Y", y}})),
      R"([I] Accuracy Comparison | onnxrt-runner-N0-11/20/26-08:02:16 vs. onnxrt-runner-N1-11/20/26-08:02:16
[I] Iteration: 0
[I]     simple | Comparing Output: 'Y' (dtype=float32, shape=(1, 2, 4, 4)) with 'Y' (dtype=float32, shape=(1, 2, 4, 4))
[I]         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]         Error Metrics: Y
[I]             Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if both abs/rel tolerances are set)
[I]             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0, 0, 0), max=0 at (0, 0, 0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0, 0, 0), max=0 at (0, 0, 0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]         PASSED | Output: 'Y' | Difference is within tolerance (rel=1e-05, abs=1e-05)
[I]     PASSED | simple | All outputs matched | Outputs: ['Y']
[I]     onnxrt-runner-N0-11/20/26-08:02:16: Y | Stats: mean=0.42447, std-dev=0.2971, var=0.088271, median=0.40689, min=0.00011437 at (0, 0, 0, 2), max=0.96826 at (0, 1, 1, 1), avg-magnitude=0.42447, p90=0.87794, p95=0.88555, p99=0.94543
[I]     onnxrt-runner-N1-11/20/26-08:02:16: Y | Stats: mean=0.42447, std-dev=0.2971, var=0.088271, median=0.40689, min=0.00011437 at (0, 0, 0, 2), max=0.96826 at (0, 1, 1, 1), avg-magnitude=0.42447, p90=0.87794, p95=0.88555, p99=0.94543
[I] Accuracy Summary | onnxrt-runner-N0-11/20/26-08:02:16 vs. onnxrt-runner-N1-11/20/26-08:02:16 | Passed: 1/1 iterations | Pass Rate: 100.00%
)");
}

TEST(Transcript, RunIdentity) {
  const Tensor y = NumPyRandom(1).sample({1, 1, 2, 2});
  EXPECT_EQ(
      comparison_log(one_iteration("onnxrt-runner-N0-11/20/26-08:02:16", {{"y", y}}),
                     one_iteration("onnxrt-runner-N1-11/20/26-08:02:16", {{"y", y}})),
      R"([I] Accuracy Comparison | onnxrt-runner-N0-11/20/26-08:02:16 vs. onnxrt-runner-N1-11/20/26-08:02:16
[I] Iteration: 0
[I]     simple | Comparing Output: 'y' (dtype=float32, shape=(1, 1, 2, 2)) with 'y' (dtype=float32, shape=(1, 1, 2, 2))
[I]         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]         Error Metrics: y
[I]             Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if both abs/rel tolerances are set)
[I]             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0, 0, 0), max=0 at (0, 0, 0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0, 0, 0), max=0 at (0, 0, 0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]         PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=1e-05)
[I]     PASSED | simple | All outputs matched | Outputs: ['y']
[I]     onnxrt-runner-N0-11/20/26-08:02:16: y | Stats: mean=0.35995, std-dev=0.25784, var=0.066482, median=0.35968, min=0.00011437 at (0, 0, 1, 0), max=0.72032 at (0, 0, 0, 1), avg-magnitude=0.35995, p90=0.62933, p95=0.67483, p99=0.71123
[I]     onnxrt-runner-N1-11/20/26-08:02:16: y | Stats: mean=0.35995, std-dev=0.25784, var=0.066482, median=0.35968, min=0.00011437 at (0, 0, 1, 0), max=0.72032 at (0, 0, 0, 1), avg-magnitude=0.35995, p90=0.62933, p95=0.67483, p99=0.71123
[I] Accuracy Summary | onnxrt-runner-N0-11/20/26-08:02:16 vs. onnxrt-runner-N1-11/20/26-08:02:16 | Passed: 1/1 iterations | Pass Rate: 100.00%
)");
}

TEST(Transcript, RunFailTolerance) {
  const Tensor y = NumPyRandom(1).sample({1, 1, 2, 2}), other = NumPyRandom(7).sample({1, 1, 2, 2});
  EXPECT_EQ(
      comparison_log(one_iteration("onnxrt-runner-N0-11/20/26-08:02:17", {{"y", y}}),
                     one_iteration("onnxrt-runner-N0-11/20/26-08:02:13", {{"y", other}})),
      R"([I] Accuracy Comparison | onnxrt-runner-N0-11/20/26-08:02:17 vs. onnxrt-runner-N0-11/20/26-08:02:13
[I] Iteration: 0
[I]     simple | Comparing Output: 'y' (dtype=float32, shape=(1, 1, 2, 2)) with 'y' (dtype=float32, shape=(1, 1, 2, 2))
[I]         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]         Error Metrics: y
[I]             Minimum Required Tolerance: elemwise error | [abs=0.43829] OR [rel=4.465] (requirements may be lower if both abs/rel tolerances are set)
[I]             Absolute Difference | Stats: mean=0.31493, std-dev=0.15195, var=0.02309, median=0.38092, min=0.059594 at (0, 0, 0, 1), max=0.43829 at (0, 0, 1, 0), avg-magnitude=0.31493, p90=0.43315, p95=0.43572, p99=0.43778
[I]                 ---- Values ----
                        [[[[0.3407137  0.05959427]
                           [0.43829486 0.42113262]]]]
[I]                 ---- Histogram ----
                    Bin Range        |  Num Elems | Visualization
                    (0.0596, 0.0975) |          1 | ####################
                    (0.0975, 0.135 ) |          0 | 
                    (0.135 , 0.173 ) |          0 | 
                    (0.173 , 0.211 ) |          0 | 
                    (0.211 , 0.249 ) |          0 | 
                    (0.249 , 0.287 ) |          0 | 
                    (0.287 , 0.325 ) |          0 | 
                    (0.325 , 0.363 ) |          1 | ####################
                    (0.363 , 0.4   ) |          0 | 
                    (0.4   , 0.438 ) |          2 | ########################################
[I]             Relative Difference | Stats: mean=1.5308, std-dev=1.7253, var=2.9767, median=0.79092, min=0.076411 at (0, 0, 0, 1), max=4.465 at (0, 0, 0, 0), avg-magnitude=1.5308, p90=3.4254, p95=3.9452, p99=4.361
[I]                 ---- Values ----
                        [[[[4.4649634  0.07641087]
                           [0.9997391  0.58210486]]]]
[I]                 ---- Histogram ----
                    Bin Range       |  Num Elems | Visualization
                    (0.0764, 0.515) |          1 | ########################################
                    (0.515 , 0.954) |          1 | ########################################
                    (0.954 , 1.39 ) |          1 | ########################################
                    (1.39  , 1.83 ) |          0 | 
                    (1.83  , 2.27 ) |          0 | 
                    (2.27  , 2.71 ) |          0 | 
                    (2.71  , 3.15 ) |          0 | 
                    (3.15  , 3.59 ) |          0 | 
                    (3.59  , 4.03 ) |          0 | 
                    (4.03  , 4.46 ) |          1 | ########################################
[E]         FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E]     FAILED | simple | Mismatched outputs: ['y']
[I]     onnxrt-runner-N0-11/20/26-08:02:17: y | Stats: mean=0.35995, std-dev=0.25784, var=0.066482, median=0.35968, min=0.00011437 at (0, 0, 1, 0), max=0.72032 at (0, 0, 0, 1), avg-magnitude=0.35995, p90=0.62933, p95=0.67483, p99=0.71123
[I]         ---- Values ----
                [[[[4.17021990e-01 7.20324516e-01]
                   [1.14374816e-04 3.02332580e-01]]]]
[I]         ---- Histogram ----
            Bin Range          |  Num Elems | Visualization
            (0.000114, 0.0781) |          1 | ########################################
            (0.0781  , 0.156 ) |          0 | 
            (0.156   , 0.234 ) |          0 | 
            (0.234   , 0.312 ) |          1 | ########################################
            (0.312   , 0.39  ) |          0 | 
            (0.39    , 0.468 ) |          1 | ########################################
            (0.468   , 0.546 ) |          0 | 
            (0.546   , 0.624 ) |          0 | 
            (0.624   , 0.702 ) |          0 | 
            (0.702   , 0.78  ) |          1 | ########################################
[I]     onnxrt-runner-N0-11/20/26-08:02:13: y | Stats: mean=0.50453, std-dev=0.27907, var=0.077879, median=0.58094, min=0.076308 at (0, 0, 0, 0), max=0.77992 at (0, 0, 0, 1), avg-magnitude=0.50453, p90=0.76298, p95=0.77145, p99=0.77823
[I]         ---- Values ----
                [[[[0.07630829 0.7799188 ]
                   [0.43840924 0.7234652 ]]]]
[I]         ---- Histogram ----
            Bin Range          |  Num Elems | Visualization
            (0.000114, 0.0781) |          1 | ####################
            (0.0781  , 0.156 ) |          0 | 
            (0.156   , 0.234 ) |          0 | 
            (0.234   , 0.312 ) |          0 | 
            (0.312   , 0.39  ) |          0 | 
            (0.39    , 0.468 ) |          1 | ####################
            (0.468   , 0.546 ) |          0 | 
            (0.546   , 0.624 ) |          0 | 
            (0.624   , 0.702 ) |          0 | 
            (0.702   , 0.78  ) |          2 | ########################################
[E] Accuracy Summary | onnxrt-runner-N0-11/20/26-08:02:17 vs. onnxrt-runner-N0-11/20/26-08:02:13 | Passed: 0/1 iterations | Pass Rate: 0.00%
)");
}

TEST(Transcript, RunMarkAll) {
  const auto constant = [](float value) { return Tensor::from(Shape{1, 3}, std::vector<float>(3, value)); };
  Tensor output = NumPyRandom(1).sample({1, 3});
  for (float& x : output.mutable_span<float>()) x += 3;
  const TensorList outputs = {{"c", constant(2)}, {"e", constant(3)}, {"output", output}};
  EXPECT_EQ(
      comparison_log(one_iteration("onnxrt-runner-N0-11/20/26-08:02:18", outputs),
                     one_iteration("onnxrt-runner-N1-11/20/26-08:02:18", outputs)),
      R"([I] Accuracy Comparison | onnxrt-runner-N0-11/20/26-08:02:18 vs. onnxrt-runner-N1-11/20/26-08:02:18
[I] Iteration: 0
[I]     simple | Comparing Output: 'c' (dtype=float32, shape=(1, 3)) with 'c' (dtype=float32, shape=(1, 3))
[I]         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]         Error Metrics: c
[I]             Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if both abs/rel tolerances are set)
[I]             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0), max=0 at (0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0), max=0 at (0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]         PASSED | Output: 'c' | Difference is within tolerance (rel=1e-05, abs=1e-05)
[I]     simple | Comparing Output: 'e' (dtype=float32, shape=(1, 3)) with 'e' (dtype=float32, shape=(1, 3))
[I]         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]         Error Metrics: e
[I]             Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if both abs/rel tolerances are set)
[I]             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0), max=0 at (0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0), max=0 at (0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]         PASSED | Output: 'e' | Difference is within tolerance (rel=1e-05, abs=1e-05)
[I]     simple | Comparing Output: 'output' (dtype=float32, shape=(1, 3)) with 'output' (dtype=float32, shape=(1, 3))
[I]         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]         Error Metrics: output
[I]             Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if both abs/rel tolerances are set)
[I]             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0), max=0 at (0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0), max=0 at (0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]         PASSED | Output: 'output' | Difference is within tolerance (rel=1e-05, abs=1e-05)
[I]     PASSED | simple | All outputs matched | Outputs: ['c', 'e', 'output']
[I]     onnxrt-runner-N0-11/20/26-08:02:18: c | Stats: mean=2, std-dev=0, var=0, median=2, min=2 at (0, 0), max=2 at (0, 0), avg-magnitude=2, p90=2, p95=2, p99=2
[I]     onnxrt-runner-N1-11/20/26-08:02:18: c | Stats: mean=2, std-dev=0, var=0, median=2, min=2 at (0, 0), max=2 at (0, 0), avg-magnitude=2, p90=2, p95=2, p99=2
[I]     onnxrt-runner-N0-11/20/26-08:02:18: e | Stats: mean=3, std-dev=0, var=0, median=3, min=3 at (0, 0), max=3 at (0, 0), avg-magnitude=3, p90=3, p95=3, p99=3
[I]     onnxrt-runner-N1-11/20/26-08:02:18: e | Stats: mean=3, std-dev=0, var=0, median=3, min=3 at (0, 0), max=3 at (0, 0), avg-magnitude=3, p90=3, p95=3, p99=3
[I]     onnxrt-runner-N0-11/20/26-08:02:18: output | Stats: mean=3.3792, std-dev=0.29524, var=0.087167, median=3.417, min=3.0001 at (0, 2), max=3.7203 at (0, 1), avg-magnitude=3.3792, p90=3.6597, p95=3.69, p99=3.7143
[I]     onnxrt-runner-N1-11/20/26-08:02:18: output | Stats: mean=3.3792, std-dev=0.29524, var=0.087167, median=3.417, min=3.0001 at (0, 2), max=3.7203 at (0, 1), avg-magnitude=3.3792, p90=3.6597, p95=3.69, p99=3.7143
[I] Accuracy Summary | onnxrt-runner-N0-11/20/26-08:02:18 vs. onnxrt-runner-N1-11/20/26-08:02:18 | Passed: 1/1 iterations | Pass Rate: 100.00%
)");
}

TEST(Transcript, RunTopK) {
  const Tensor softmax = Tensor::from(Shape{1, 1000, 1, 1}, std::vector<float>(1000, 0.001f));
  std::vector<RunnerOutputs> results = {
      one_iteration("onnxrt-runner-N0-11/20/26-08:02:18", {{"softmaxout_1", softmax}}),
      one_iteration("onnxrt-runner-N1-11/20/26-08:02:18", {{"softmaxout_1", softmax}})};
  const log::Capture capture;
  for (RunnerOutputs& r : results)
    r.iterations = {TopKPostprocess(TopK{.k = 5}).apply(r.iterations[0], std::nullopt)};
  const auto pairs =
      print_accuracy(results, {.functions = {std::make_shared<SimpleComparison>(SimpleOptions{})}});
  EXPECT_TRUE(pairs.at(0).passed(Aggregation::kPerSample));
  EXPECT_EQ(
      capture.out(),
      R"([I] Accuracy Comparison | onnxrt-runner-N0-11/20/26-08:02:18 vs. onnxrt-runner-N1-11/20/26-08:02:18
[I] Iteration: 0
[I]     simple | Comparing Output: 'softmaxout_1' (dtype=int64, shape=(1, 1000, 1, 1)) with 'softmaxout_1' (dtype=int64, shape=(1, 1000, 1, 1))
[I]         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]         Error Metrics: softmaxout_1
[I]             Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=nan] (requirements may be lower if both abs/rel tolerances are set)
[I]             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0, 0, 0), max=0 at (0, 0, 0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             Relative Difference | Stats: mean=nan, std-dev=nan, var=nan, median=nan, min=nan at (0, 0, 0, 0), max=nan at (0, 0, 0, 0), avg-magnitude=nan, p90=nan, p95=nan, p99=nan
[I]         PASSED | Output: 'softmaxout_1' | Difference is within tolerance (rel=1e-05, abs=1e-05)
[I]     PASSED | simple | All outputs matched | Outputs: ['softmaxout_1']
[I]     onnxrt-runner-N0-11/20/26-08:02:18: softmaxout_1 | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0, 0, 0), max=0 at (0, 0, 0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I]     onnxrt-runner-N1-11/20/26-08:02:18: softmaxout_1 | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0, 0, 0, 0), max=0 at (0, 0, 0, 0), avg-magnitude=0, p90=0, p95=0, p99=0
[I] Accuracy Summary | onnxrt-runner-N0-11/20/26-08:02:18 vs. onnxrt-runner-N1-11/20/26-08:02:18 | Passed: 1/1 iterations | Pass Rate: 100.00%
)");
}

TEST(Transcript, RunValidateInf) {
  const log::Capture capture;
  constexpr ValidateOptions kOptions{.check_inf = true};
  const Tensor infinity = Tensor::vector<float>({INFINITY});
  const ValidationResult found =
      validate_output("onnxrt-runner-N0-11/22/26-08:48:08", "B", infinity, kOptions);
  EXPECT_FALSE(found.valid());
  print_validation(found, infinity, kOptions, 0);
  EXPECT_EQ(
      capture.out(),
      R"([I] onnxrt-runner-N0-11/22/26-08:48:08  | Iteration 0 | Validating output: B (check_inf=True, check_nan=True)
[I]     mean=inf, std-dev=nan, var=nan, median=inf, min=inf at (0,), max=inf at (0,), avg-magnitude=inf, p90=nan, p95=nan, p99=nan
[E]     Inf Detected | One or more non-finite values were encountered in this output
[I]     Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display non-finite values
[E]     FAILED | Errors detected in output: B
)");
}

}  // namespace
}  // namespace assay::transcript_test
