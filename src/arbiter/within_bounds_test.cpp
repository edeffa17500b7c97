#include "arbiter/within_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "arbiter/judge.h"
#include "tensor/convert.h"

namespace assay::within_bounds_test {
namespace {

constexpr double kUnit = 0x1p-24;

struct Case {
  Tensor exact, result;
  NodeError error;
};

/// `count` numbers with errors of up to `size` times what is expected of them.
Case made(int64_t count, double size) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> value(-2, 2), part(-1, 1);
  Case c{.exact = Tensor::allocate(DType::kFloat64, {count}),
         .result = Tensor::allocate(DType::kFloat32, {count}),
         .error = {.worst = Tensor::allocate(DType::kFloat64, {count}),
                   .expected = Tensor::allocate(DType::kFloat64, {count}),
                   .operations = 30}};
  for (int64_t i = 0; i < count; ++i) {
    const double y = value(random), expected = (1 + std::abs(y)) * kUnit;
    c.exact.mutable_data<double>()[i] = y;
    c.error.expected.mutable_data<double>()[i] = expected;
    c.error.worst.mutable_data<double>()[i] = 30 * expected;
    c.result.mutable_data<float>()[i] = static_cast<float>(y + size * part(random) * expected);
  }
  return c;
}

void expect_the_same(const Case& c) {
  const Standard standard{
      .lanes = {&c.exact, 1}, .error = &c.error, .basis = Basis::kNode, .declared = c.result.dtype()};
  const Tensor wide = to_float64(c.result);
  const Explained explained = explained_for(wide, standard, c.result.dtype());
  const Deviation slow = deviation(wide, c.exact, explained, c.result.dtype());
  const std::optional<WithinBounds> quick = within_bounds(c.result, standard);
  ASSERT_EQ(quick.has_value(), slow.ratio <= 1);
  if (!quick) return;
  EXPECT_EQ(quick->deviation.ratio, slow.ratio);
  EXPECT_EQ(quick->deviation.at, slow.at);
  EXPECT_EQ(quick->deviation.max_error, slow.max_error);
  EXPECT_EQ(quick->deviation.rounded, slow.rounded);
  if (slow.at < 0) return;
  const auto at = static_cast<size_t>(slow.at);
  EXPECT_EQ(quick->explained, explained.most.span<double>()[at]);
  EXPECT_EQ(quick->exact, c.exact.span<double>()[at]);
  EXPECT_EQ(quick->result, wide.span<double>()[at]);
}

TEST(WithinBounds, FindsWhatTheWholeJudgementFinds) {
  for (const int64_t count : {0, 1, 255, 256, 100001})
    for (const double size : {0.0, 1.0, 4.0, 9.0}) {
      SCOPED_TRACE(testing::Message() << count << " " << size);
      expect_the_same(made(count, size));
    }
  Case free = made(1000, 0);
  free.error = {};
  for (int64_t i = 0; i < 1000; ++i)
    free.exact.mutable_data<double>()[i] = static_cast<double>(free.result.data<float>()[i]);
  free.exact.mutable_data<double>()[3] = 0x1p-140;  // a result may be flushed to zero
  free.result.mutable_data<float>()[3] = 0;
  expect_the_same(free);
  free.result.mutable_data<float>()[900] += 0.5F;
  expect_the_same(free);
}

/// However the elements are shared out among threads.
TEST(WithinBounds, NamesTheFirstOfEquals) {
  Case c = made(200000, 0);
  for (double& y : std::span(c.exact.mutable_data<double>(), 200000)) y = 1;
  for (double& e : std::span(c.error.expected.mutable_data<double>(), 200000)) e = kUnit;
  for (float& r : std::span(c.result.mutable_data<float>(), 200000)) r = 1;
  for (const size_t i : {70001U, 120000U, 199999U}) c.result.mutable_data<float>()[i] = 1 + 0x1p-23F;
  for (int round = 0; round < 20; ++round) {
    const auto found =
        within_bounds(c.result, {.lanes = {&c.exact, 1}, .error = &c.error, .declared = DType::kFloat32});
    ASSERT_TRUE(found);
    ASSERT_EQ(found->deviation.at, 70001);
    ASSERT_EQ(largest_distance(c.result, c.exact).at, 70001);
  }
}

TEST(WithinBounds, LeavesTheRestToOthers) {
  Case c = made(600, 1);
  const std::vector<Tensor> lanes = {c.exact, made(600, 1).exact};
  EXPECT_FALSE(within_bounds(c.result, {.lanes = lanes, .error = &c.error})) << "noisy evaluations";
  EXPECT_FALSE(within_bounds(c.result, {.lanes = {&c.exact, 1}})) << "no bounds";
  EXPECT_FALSE(
      within_bounds(convert(c.result, DType::kFloat16), {.lanes = {&c.exact, 1}, .error = &c.error}));
  for (const float special : {HUGE_VALF, std::nanf("")}) {
    Case other = made(600, 1);
    other.result.mutable_data<float>()[400] = special;
    EXPECT_FALSE(within_bounds(other.result, {.lanes = {&c.exact, 1}, .error = &c.error}));
    other.exact.mutable_data<double>()[400] = static_cast<double>(special);
    EXPECT_FALSE(within_bounds(other.result, {.lanes = {&other.exact, 1}, .error = &c.error}));
  }
}

TEST(LargestDistance, TakesSpecialsForEqualOrInfinitelyFar) {
  Tensor r = Tensor::zeros(DType::kFloat32, {300}), y = Tensor::zeros(DType::kFloat64, {300});
  EXPECT_EQ(largest_distance(r, y).at, -1);
  r.mutable_data<float>()[299] = 0.5F;
  EXPECT_EQ(largest_distance(r, y).at, 299);
  r.mutable_data<float>()[10] = HUGE_VALF, y.mutable_data<double>()[10] = HUGE_VAL;
  r.mutable_data<float>()[11] = std::nanf(""), y.mutable_data<double>()[11] = std::nan("");
  EXPECT_EQ(largest_distance(r, y).most, 0.5);
  y.mutable_data<double>()[12] = std::nan("");
  EXPECT_EQ(largest_distance(r, y).at, 12);
  EXPECT_EQ(largest_distance(r, y).most, HUGE_VAL);
}

}  // namespace
}  // namespace assay::within_bounds_test
