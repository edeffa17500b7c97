#include "compare/histogram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "tensor/convert.h"

namespace assay::histogram_test {
namespace {

std::string own_text(const Tensor& t) {
  const TensorNumbers numbers(t);
  return histogram_text(numbers, own_range(statistics(numbers)));
}

std::vector<int64_t> counts_in(const Tensor& t, HistogramRange range) {
  return histogram(TensorNumbers(t), range).counts;
}

using Counts = std::vector<int64_t>;

TEST(Histogram, TextOfPolygraphy) {
  EXPECT_EQ(
      own_text(Tensor::vector<float>({4.17021990e-01f, 7.20324516e-01f, 1.14374816e-04f, 3.02332580e-01f})),
      "---- Histogram ----\n"
      "Bin Range          |  Num Elems | Visualization\n"
      "(0.000114, 0.0721) |          1 | ########################################\n"
      "(0.0721  , 0.144 ) |          0 | \n"
      "(0.144   , 0.216 ) |          0 | \n"
      "(0.216   , 0.288 ) |          0 | \n"
      "(0.288   , 0.36  ) |          1 | ########################################\n"
      "(0.36    , 0.432 ) |          1 | ########################################\n"
      "(0.432   , 0.504 ) |          0 | \n"
      "(0.504   , 0.576 ) |          0 | \n"
      "(0.576   , 0.648 ) |          0 | \n"
      "(0.648   , 0.72  ) |          1 | ########################################\n");
}

TEST(Histogram, EqualNumbersLieInTheMiddleOfAWiderRange) {
  EXPECT_EQ(own_text(Tensor::vector<float>({3, 3, 3})),
            "---- Histogram ----\n"
            "Bin Range  |  Num Elems | Visualization\n"
            "(2.5, 2.6) |          0 | \n"
            "(2.6, 2.7) |          0 | \n"
            "(2.7, 2.8) |          0 | \n"
            "(2.8, 2.9) |          0 | \n"
            "(2.9, 3  ) |          0 | \n"
            "(3  , 3.1) |          3 | ########################################\n"
            "(3.1, 3.2) |          0 | \n"
            "(3.2, 3.3) |          0 | \n"
            "(3.3, 3.4) |          0 | \n"
            "(3.4, 3.5) |          0 | \n");
}

TEST(Histogram, EachBinHoldsItsLowerEdgeAndTheLastBoth) {
  const Tensor t = Tensor::vector<int32_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_EQ(counts_in(t, {0, 10}), (Counts{1, 1, 1, 1, 1, 1, 1, 1, 1, 2}));
}

TEST(Histogram, BarsAreRoundedDown) {
  std::vector<float> values(99, 0.0f);
  values.insert(values.end(), {5, 5, 10});
  const std::string text = own_text(Tensor::vector(values));
  EXPECT_NE(text.find("(0 , 1 ) |         99 | ########################################\n"), text.npos)
      << text;
  EXPECT_NE(text.find("(5 , 6 ) |          2 | \n"), text.npos) << text;
}

TEST(Histogram, NumbersOutsideAndNanAreNotCounted) {
  const Tensor t = Tensor::vector<float>({-1, 0, 0.5f, NAN, 10, 10.5f, INFINITY, -INFINITY});
  EXPECT_EQ(counts_in(t, {0, 10, true}), (Counts{2, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(counts_in(t, {0, 10, false}), (Counts{2, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

// The counts that NumPy 2 gives for bounds of type float32, float (of Python) and for float64 numbers.
TEST(Histogram, EdgesAreComputedAsInNumPy) {
  const Tensor t = Tensor::vector<float>({0.1f, 0.2f, 0.3f, 0.4f, 0.6f, 0.7f, 0.8f, 0.9f});
  EXPECT_EQ(counts_in(t, {0, 1, true}), (Counts{0, 1, 1, 1, 1, 0, 1, 1, 2, 0}));
  EXPECT_EQ(counts_in(t, {0, 1}), (Counts{0, 1, 1, 1, 1, 0, 1, 1, 1, 1}));
  EXPECT_EQ(counts_in(convert(t, DType::kFloat64), {0, 1}), (Counts{0, 1, 1, 1, 1, 0, 2, 0, 2, 0}));
}

TEST(Histogram, LargeIntegers) {
  const Tensor t = Tensor::vector<uint64_t>({0, UINT64_MAX / 2, UINT64_MAX});
  EXPECT_EQ(counts_in(t, {0, 0x1p64}), (Counts{1, 0, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(Histogram, ManyBlocks) {
  std::vector<double> values(100000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  EXPECT_EQ(counts_in(Tensor::vector(values), {0, 100000}), Counts(10, 10000));
}

TEST(Histogram, NothingToShow) {
  const auto problem_of = [](const Numbers& numbers, const HistogramRange& range) {
    std::string problem;
    EXPECT_EQ(histogram_text(numbers, range, &problem), "");
    return problem;
  };
  const auto own = [&](const Tensor& t) {
    const TensorNumbers numbers(t);
    return problem_of(numbers, own_range(statistics(numbers)));
  };
  EXPECT_EQ(own(Tensor::vector<float>({1, NAN})), "autodetected range of [nan, nan] is not finite");
  EXPECT_EQ(own(Tensor::vector<float>({0.1f, INFINITY})),
            "autodetected range of [0.10000000149011612, inf] is not finite");
  EXPECT_EQ(problem_of(TensorNumbers(Tensor::scalar(1.0)), {-INFINITY, 0.1}),
            "supplied range of [-inf, 0.1] is not finite");
  EXPECT_EQ(own(Tensor::vector<uint64_t>({UINT64_MAX, UINT64_MAX})),
            "Too many bins for data range. Cannot create 10 finite-sized bins.");
  EXPECT_EQ(own_text(Tensor::allocate(DType::kFloat32, Shape{0})), "");
}

TEST(Histogram, CommonRangeIsThatOfPythonsMinAndMax) {
  const Statistics a = statistics(Tensor::vector<float>({1, 4})),
                   b = statistics(Tensor::vector<float>({-1, 2})),
                   nan = statistics(Tensor::vector<float>({NAN}));
  EXPECT_EQ(common_range(a, b).low, -1);
  EXPECT_EQ(common_range(a, b).high, 4);
  EXPECT_FALSE(common_range(a, b).detected);
  EXPECT_EQ(common_range(a, nan).high, 4);
  EXPECT_TRUE(std::isnan(common_range(nan, a).high));
}

}  // namespace
}  // namespace assay::histogram_test
