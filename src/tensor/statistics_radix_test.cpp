#include "tensor/statistics_radix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace assay::internal::statistics_radix_test {
namespace {

template <typename T>
void expect_selected(const char* name, const std::vector<T>& values) {
  SCOPED_TRACE(name);
  std::vector<T> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto last = static_cast<int64_t>(values.size()) - 1;
  const std::vector<RankPair> ranks = {
      {0, 0}, {last / 3, last / 3 + 1}, {last / 2, last / 2}, {last - 1, last}, {1, last}};
  const std::vector<ValuePair> found = select_by_radix(TensorNumbers(Tensor::vector(values)), ranks);
  ASSERT_EQ(found.size(), ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(found[i].below, static_cast<double>(sorted[static_cast<size_t>(ranks[i].below)])) << i;
    EXPECT_EQ(found[i].above, static_cast<double>(sorted[static_cast<size_t>(ranks[i].above)])) << i;
  }
}

template <typename T>
void expect_all_kinds_of_data(const char* type) {
  SCOPED_TRACE(type);
  std::mt19937_64 random(3);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const auto fill = [&](size_t n, const auto& f) {
    std::vector<T> values(n);
    for (T& v : values) v = static_cast<T>(f());
    return values;
  };
  expect_selected("two", fill(2, [&] { return 9 * unit(); }));
  expect_selected("few", fill(2047, [&] { return 1e9 * unit(); }));
  expect_selected("many", fill(60001, [&] { return 1e9 * unit(); }));
  expect_selected("one value", fill(60001, [] { return 42; }));
  expect_selected("two values", fill(60001, [&] { return unit() < 0.5 ? 7 : 8; }));
  expect_selected("equal leading bits", fill(60001, [&] { return 1000000 + 300 * unit(); }));
  if constexpr (std::is_signed_v<T>) {
    expect_selected("both signs", fill(60001, [&] { return 1e6 * (unit() - 0.5); }));
    expect_selected("negative", fill(60001, [&] { return -1e6 * unit(); }));
  }
  std::vector<T> extremes(60001, 1);
  extremes[5] = std::numeric_limits<T>::max();
  extremes[6] = std::numeric_limits<T>::lowest();
  expect_selected("extremes", extremes);
}

TEST(SelectByRadix, EveryKind) {
  expect_all_kinds_of_data<float>("float32");
  expect_all_kinds_of_data<double>("float64");
  expect_all_kinds_of_data<int64_t>("int64");
  expect_all_kinds_of_data<uint64_t>("uint64");
}

TEST(SelectByRadix, InfinitiesAndSubnormals) {
  std::vector<float> values = {INFINITY, -INFINITY, 1e-45f, -1e-45f, 0};
  values.resize(9000, 1e-40f);
  expect_selected("float32", values);
}

TEST(SelectByRadix, ZerosHaveNoSign) {
  const std::vector<ValuePair> found = select_by_radix(
      TensorNumbers(Tensor::vector<float>({-0.0f, 0.0f, -0.0f})), std::vector<RankPair>{{0, 2}});
  EXPECT_FALSE(std::signbit(found[0].below));
  EXPECT_FALSE(std::signbit(found[0].above));
}

}  // namespace
}  // namespace assay::internal::statistics_radix_test
