// Comparison of indices.
#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "compare/compare_test_util.h"
#include "compare/indices.h"
#include "tensor/convert.h"

namespace assay::indices_test {
namespace {

struct Outcome {
  bool passed;
  std::string log;
};
Outcome compare_indices(const Tensor& a, const Tensor& b, int64_t tolerance, bool fail_fast = false) {
  const log::Capture capture;
  const PairResult r = print_comparison(std::make_shared<IndicesComparison>(tolerance), {{"y", a}},
                                        {{"y", b}}, {.fail_fast = fail_fast});
  return {r.passed(), capture.out()};
}

TEST(Indices, LogOfAMismatch) {
  const Tensor a = Tensor::from<int64_t>(Shape{2, 4}, std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor b = Tensor::from<int64_t>(Shape{2, 4}, std::vector<int64_t>{1, 0, 2, 9, 6, 5, 4, 8});
  EXPECT_EQ(
      compare_indices(a, b, 1).log,
      R"([I] indices | Comparing Output: 'y' (dtype=int64, shape=(2, 4)) with 'y' (dtype=int64, shape=(2, 4))
[E]     FAILED | Difference exceeds index tolerance (1)
[E]     FAILED | Difference exceeds index tolerance (1)
[E] FAILED | indices | Mismatched outputs: ['y']
[I] A: y | Stats: mean=3.5, std-dev=2.2913, var=5.25, median=3.5, min=0 at (0, 0), max=7 at (1, 3), avg-magnitude=3.5, p90=6.3, p95=6.65, p99=6.93
[I]     ---- Values ----
            [[0 1 2 3]
             [4 5 6 7]]
[I]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (0  , 0.9) |          1 | ########################################
        (0.9, 1.8) |          1 | ########################################
        (1.8, 2.7) |          1 | ########################################
        (2.7, 3.6) |          1 | ########################################
        (3.6, 4.5) |          1 | ########################################
        (4.5, 5.4) |          1 | ########################################
        (5.4, 6.3) |          1 | ########################################
        (6.3, 7.2) |          1 | ########################################
        (7.2, 8.1) |          0 | 
        (8.1, 9  ) |          0 | 
[I] B: y | Stats: mean=4.375, std-dev=3.0388, var=9.2344, median=4.5, min=0 at (0, 1), max=9 at (0, 3), avg-magnitude=4.375, p90=8.3, p95=8.65, p99=8.93
[I]     ---- Values ----
            [[1 0 2 9]
             [6 5 4 8]]
[I]     ---- Histogram ----
        Bin Range  |  Num Elems | Visualization
        (0  , 0.9) |          1 | ########################################
        (0.9, 1.8) |          1 | ########################################
        (1.8, 2.7) |          1 | ########################################
        (2.7, 3.6) |          0 | 
        (3.6, 4.5) |          1 | ########################################
        (4.5, 5.4) |          1 | ########################################
        (5.4, 6.3) |          1 | ########################################
        (6.3, 7.2) |          0 | 
        (7.2, 8.1) |          1 | ########################################
        (8.1, 9  ) |          1 | ########################################
)");
}

TEST(Indices, LogOfAMatch) {
  EXPECT_EQ(
      compare_indices(Tensor::vector<int64_t>({0, 1, 2}), Tensor::vector<int64_t>({1, 0, 5}), 1).log,
      R"([I] indices | Comparing Output: 'y' (dtype=int64, shape=(3,)) with 'y' (dtype=int64, shape=(3,))
[I]     PASSED | Difference is within index tolerance (1)
[I] PASSED | indices | All outputs matched | Outputs: ['y']
[I] A: y | Stats: mean=1, std-dev=0.8165, var=0.66667, median=1, min=0 at (0,), max=2 at (2,), avg-magnitude=1, p90=1.8, p95=1.9, p99=1.98
[I] B: y | Stats: mean=2, std-dev=2.1602, var=4.6667, median=1, min=0 at (1,), max=5 at (2,), avg-magnitude=2, p90=4.2, p95=4.6, p99=4.92
)");
}

TEST(Indices, ShapesMustMatch) {
  const std::string log =
      compare_indices(Tensor::vector<int64_t>({0, 1, 2}), Tensor::vector<int64_t>({1, 0}), 1).log;
  EXPECT_EQ(
      log.substr(0, log.find("[I] A: y")),
      R"([I] indices | Comparing Output: 'y' (dtype=int64, shape=(3,)) with 'y' (dtype=int64, shape=(2,))
[E]     Cannot compare outputs of different shapes.
[E] FAILED | indices | Mismatched outputs: ['y']
)");
}

TEST(Indices, AMissingValueIsNamed) {
  const Outcome o = compare_indices(Tensor::vector<int64_t>({7, 1}), Tensor::vector<int64_t>({1, 2}), 0);
  EXPECT_FALSE(o.passed);
  EXPECT_NE(o.log.find("[E]     FAILED | Value: 7 not found in output\n"
                       "[E]     FAILED | Difference exceeds index tolerance (0)\n"),
            o.log.npos)
      << o.log;
}

TEST(Indices, FailFastStopsAtTheFirstMismatch) {
  const Outcome o =
      compare_indices(Tensor::vector<int64_t>({7, 1}), Tensor::vector<int64_t>({1, 2}), 0, true);
  EXPECT_FALSE(o.passed);
  EXPECT_EQ(
      o.log.substr(0, o.log.find("[I] A: y")),
      "[I] indices | Comparing Output: 'y' (dtype=int64, shape=(2,)) with 'y' (dtype=int64, shape=(2,))\n"
      "[E]     FAILED | Value: 7 not found in output\n");
}

TEST(Indices, TheFirstOfEqualValuesCounts) {
  const Tensor a = Tensor::vector<int64_t>({1, 2, 3, 3}), b = Tensor::vector<int64_t>({1, 3, 2, 3});
  EXPECT_TRUE(compare_indices(a, b, 1).passed);
  EXPECT_FALSE(compare_indices(a, b, 0).passed);
}

TEST(Indices, OddInputs) {
  const auto empty = [](Shape shape) { return Tensor::allocate(DType::kInt64, std::move(shape)); };
  EXPECT_TRUE(compare_indices(empty({3, 0}), empty({3, 0}), 0).passed);
  EXPECT_TRUE(compare_indices(Tensor::scalar<int64_t>(3), Tensor::scalar<int64_t>(3), 0).passed);
  EXPECT_FALSE(compare_indices(Tensor::scalar<int64_t>(3), Tensor::scalar<int64_t>(4), 0).passed);
  EXPECT_TRUE(compare_indices(Tensor::scalar<int64_t>(3), Tensor::scalar<int64_t>(4), 5).passed)
      << "as many places as the tolerance are not looked at";
  EXPECT_FALSE(compare_indices(Tensor::vector<float>({NAN}), Tensor::vector<float>({NAN}), 0).passed);
  EXPECT_FALSE(
      compare_indices(Tensor::vector<std::string>({"a"}), Tensor::vector<std::string>({"a"}), 0).passed);
}

}  // namespace
}  // namespace assay::indices_test
