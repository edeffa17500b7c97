#include "compare/match_shape.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/log.h"
#include "compare/report.h"

namespace assay::match_shape_test {
namespace {

Tensor counted(Shape shape) {
  std::vector<int32_t> values(static_cast<size_t>(shape.numel()));
  std::iota(values.begin(), values.end(), 0);
  return Tensor::from(std::move(shape), values);
}

std::vector<int32_t> elements(const Tensor& t) {
  return {t.span<int32_t>().begin(), t.span<int32_t>().end()};
}

struct Matched {
  Tensor tensor;
  std::string log;
};
Matched match(const Tensor& t, const std::vector<int64_t>& dims) {
  const log::Capture capture({.threshold = log::Severity::kExtraVerbose});
  std::vector<ShapeStep> steps;
  Tensor result = try_match_shape(t, dims, steps);
  print_shape_steps(steps);
  return {result, capture.out()};
}

TEST(MatchShape, EqualShapesNeedNothing) {
  const Tensor t = counted({2, 3});
  const Matched m = match(t, {2, 3});
  EXPECT_TRUE(m.tensor.identical(t));
  EXPECT_EQ(m.log, "");
}

TEST(MatchShape, PermutesWhenTheExtentsAreTheSame) {
  const Matched m = match(counted({3, 2}), {2, 3});
  EXPECT_EQ(m.tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(elements(m.tensor), (std::vector<int32_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(m.log, "[I] Permuted array of shape: (3, 2) to: (2, 3) using permutation [1, 0]\n");
}

TEST(MatchShape, EachExtentTakesTheFirstFreeAxis) {
  const Matched m = match(counted({2, 3, 2}), {3, 2, 2});
  EXPECT_EQ(m.log, "[I] Permuted array of shape: (2, 3, 2) to: (3, 2, 2) using permutation [1, 0, 2]\n");
  EXPECT_EQ(elements(m.tensor), (std::vector<int32_t>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
}

TEST(MatchShape, ReshapesOtherwise) {
  const Matched rank = match(counted({6}), {2, 3});
  EXPECT_EQ(elements(rank.tensor), (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(rank.log, "[I] Reshaped array from shape: (6,) to: (2, 3)\n");
  const Matched extents = match(counted({4, 3}), {2, 6});
  EXPECT_EQ(extents.tensor.shape(), (Shape{2, 6}));
  EXPECT_EQ(extents.log,
            "[X] Array of shape: (4, 3) cannot be permuted to: (2, 6)\n"
            "[I] Reshaped array from shape: (4, 3) to: (2, 6)\n");
}

TEST(MatchShape, OneOpenExtentFollowsFromTheSize) {
  EXPECT_EQ(match(counted({12}), {2, -1}).tensor.shape(), (Shape{2, 6}));
  EXPECT_EQ(match(counted({3, 2}), {-1, 3}).tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(match(counted({0, 2}), {-1, 0}).tensor.shape(), (Shape{0, 0}));
}

TEST(MatchShape, SeveralOpenExtentsAreThoseOfTheTensor) {
  const Matched m = match(counted({2, 3}), {-1, -1});
  EXPECT_EQ(m.tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(m.log, "");
}

TEST(MatchShape, GivesUpLoudly) {
  const Matched m = match(counted({2, 3}), {7});
  EXPECT_EQ(m.tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(m.log, "[W] Could not reshape array from shape: (2, 3) to (7,). Skipping reshape.\n");
  EXPECT_EQ(match(counted({2}), {-1, -1}).tensor.shape(), (Shape{2}));
  EXPECT_EQ(match(counted({2}), {INT64_MAX, INT64_MAX}).tensor.shape(), (Shape{2}));
  EXPECT_EQ(match(counted({2}), {INT64_MAX, INT64_MAX, -1}).tensor.shape(), (Shape{2}));
}

TEST(Transpose, AnyTypeAndRank) {
  const Tensor words = Tensor::from<std::string>(Shape{2, 2}, std::vector<std::string>{"a", "b", "c", "d"});
  const Tensor flipped = transpose(words, std::vector<int64_t>{1, 0});
  EXPECT_EQ(flipped.data<std::string>()[1], "c");
  EXPECT_EQ(transpose(Tensor::scalar(3), std::vector<int64_t>{}).item<int32_t>(), 3);
  EXPECT_EQ(transpose(counted({0, 2}), std::vector<int64_t>{1, 0}).shape(), (Shape{2, 0}));
  const Tensor large = counted({50, 7, 101});
  const Tensor there = transpose(large, std::vector<int64_t>{2, 0, 1});
  EXPECT_EQ(there.data<int32_t>()[(100 * 50 + 49) * 7 + 6], (49 * 7 + 6) * 101 + 100);
  EXPECT_TRUE(transpose(there, std::vector<int64_t>{1, 2, 0}).identical(large));
}

TEST(Transpose, RefusesWhatIsNoPermutation) {
  EXPECT_THROW(transpose(counted({2, 3}), std::vector<int64_t>{0}), Error);
  EXPECT_THROW(transpose(counted({2, 3}), std::vector<int64_t>{0, 0}), Error);
  EXPECT_THROW(transpose(counted({2, 3}), std::vector<int64_t>{0, 2}), Error);
}

}  // namespace
}  // namespace assay::match_shape_test
