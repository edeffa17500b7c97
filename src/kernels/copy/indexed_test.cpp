#include "kernels/copy/indexed.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace assay::kernels::indexed_test {
namespace {

/// Coordinates of a flat position.
std::vector<int64_t> coordinates(const Shape& shape, int64_t at) {
  std::vector<int64_t> c(shape.size());
  for (size_t d = shape.size(); d-- > 0; at /= shape[d]) c[d] = at % shape[d];
  return c;
}

int64_t flat(const Shape& shape, const std::vector<int64_t>& c) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + c[d];
  return at;
}

template <typename T>
std::vector<T> counted(int64_t n, T first) {
  std::vector<T> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(first + static_cast<T>(i % 101));
  return x;
}

template <typename T, typename Index>
void check_elements(const ElementWalk& w) {
  std::mt19937 random(5);
  const int64_t limit = w.data[w.axis], n = w.index.numel();
  std::vector<Index> index;
  for (int64_t i = 0; i < n; ++i)
    index.push_back(
        static_cast<Index>(static_cast<int64_t>(random() % (2 * static_cast<uint64_t>(limit))) - limit));
  const std::vector<T> in = counted<T>(w.data.numel(), 1), updates = counted<T>(n, 50);
  std::vector<T> out(static_cast<size_t>(n)), scattered = in, expected = in, added = in, sums = in;
  ASSERT_TRUE(gather_elements(w, in.data(), index.data(), out.data(), sizeof(T)));
  ASSERT_TRUE(scatter_elements(w, scattered.data(), index.data(), updates.data(), sizeof(T),
                               DType::kUndefined, ScatterReduction::kNone));
  constexpr DType kType = std::is_same_v<T, float>    ? DType::kFloat32
                          : std::is_same_v<T, double> ? DType::kFloat64
                          : sizeof(T) == 4            ? DType::kInt32
                                                      : DType::kInt64;
  if constexpr (sizeof(T) >= 4) {
    ASSERT_TRUE(scatter_elements(w, added.data(), index.data(), updates.data(), sizeof(T), kType,
                                 ScatterReduction::kAdd));
  }
  for (int64_t p = 0; p < n; ++p) {
    std::vector<int64_t> c = coordinates(w.index, p);
    c[w.axis] = index[static_cast<size_t>(p)] < 0 ? index[static_cast<size_t>(p)] + limit
                                                  : index[static_cast<size_t>(p)];
    const auto place = static_cast<size_t>(flat(w.data, c));
    ASSERT_EQ(out[static_cast<size_t>(p)], in[place]) << p;
    expected[place] = updates[static_cast<size_t>(p)];
    sums[place] = static_cast<T>(sums[place] + updates[static_cast<size_t>(p)]);
  }
  EXPECT_EQ(scattered, expected);
  if constexpr (sizeof(T) >= 4) {
    EXPECT_EQ(added, sums);
  }
}

TEST(Indexed, ElementsComeFromAndGoToTheirPlaces) {
  check_elements<float, int64_t>({{7}, {20}, 0});
  check_elements<float, int32_t>({{300, 70}, {300, 70}, 1});
  check_elements<double, int64_t>({{300, 70}, {450, 60}, 0});
  check_elements<uint8_t, int64_t>({{5, 6, 7}, {5, 9, 3}, 1});
  check_elements<uint16_t, int32_t>({{5, 6, 7}, {4, 6, 11}, 2});
  check_elements<int32_t, int64_t>({{3, 4, 5, 6}, {8, 4, 2, 6}, 0});
  check_elements<int64_t, int64_t>({{1, 9000, 1}, {1, 9000, 1}, 1});
  check_elements<float, int64_t>({{4, 5}, {4, 0}, 1});
}

TEST(Indexed, ReductionsAreThoseOfTheirType) {
  const ElementWalk w{{3}, {4}, 0};
  const std::vector<int64_t> index = {0, 0, -1, 1};
  const auto run = [&](ScatterReduction reduction) {
    std::vector<float> data = {2, 3, NAN};
    const std::vector<float> updates = {5, -1, 4, 3};
    EXPECT_TRUE(
        scatter_elements(w, data.data(), index.data(), updates.data(), 4, DType::kFloat32, reduction));
    EXPECT_TRUE(std::isnan(data[2]));
    return std::pair(data[0], data[1]);
  };
  EXPECT_EQ(run(ScatterReduction::kAdd), std::pair(6.0F, 6.0F));
  EXPECT_EQ(run(ScatterReduction::kMul), std::pair(-10.0F, 9.0F));
  EXPECT_EQ(run(ScatterReduction::kMin), std::pair(-1.0F, 3.0F));
  EXPECT_EQ(run(ScatterReduction::kMax), std::pair(5.0F, 3.0F));
  std::vector<int32_t> wraps = {INT32_MAX, 0, 0};
  const std::vector<int32_t> ones = {1, 0, 0, 0};
  EXPECT_TRUE(
      scatter_elements(w, wraps.data(), index.data(), ones.data(), 4, DType::kInt32, ScatterReduction::kAdd));
  EXPECT_EQ(wraps[0], INT32_MIN);
}

TEST(Indexed, SlicesComeFromAndGoToTheirPlaces) {
  // Two batches of a [3, 4] grid of slices of 5.
  const SliceWalk w{.batches = 2, .tuples = 6, .slice = 5, .extents = {3, 4}};
  const std::vector<int64_t> index = {0, 0, 2, 3, -1, -4, 1, 1, 1, 1, 0,  3,
                                      2, 2, 0, 1, 1,  0,  2, 3, 2, 3, -3, -1};
  const std::vector<float> in = counted<float>(2 * 12 * 5, 1), updates = counted<float>(2 * 6 * 5, 40);
  std::vector<float> out(updates.size()), scattered = in, expected = in;
  ASSERT_TRUE(gather_slices(w, in.data(), index.data(), out.data(), 4));
  ASSERT_TRUE(scatter_slices(w, scattered.data(), index.data(), updates.data(), 4, DType::kUndefined,
                             ScatterReduction::kNone));
  for (size_t t = 0; t < 12; ++t) {
    const int64_t i = (index[2 * t] + 3) % 3, j = (index[2 * t + 1] + 4) % 4;
    for (size_t e = 0; e < 5; ++e) {
      const size_t place = t / 6 * 60 + static_cast<size_t>(i * 4 + j) * 5 + e;
      EXPECT_EQ(out[t * 5 + e], in[place]);
      expected[place] = updates[t * 5 + e];
    }
  }
  EXPECT_EQ(scattered, expected);
}

TEST(Indexed, AnIndexOutOfRangeIsSaid) {
  std::vector<float> data(6), out(2);
  for (const int64_t bad : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    const std::vector<int64_t> index = {0, bad};
    EXPECT_FALSE(gather_elements({{3}, {2}, 0}, data.data(), index.data(), out.data(), 4));
    EXPECT_FALSE(scatter_elements({{3}, {2}, 0}, data.data(), index.data(), out.data(), 4, DType::kUndefined,
                                  ScatterReduction::kNone));
    const SliceWalk w{.tuples = 2, .slice = 1, .extents = {3}};
    EXPECT_FALSE(gather_slices(w, data.data(), index.data(), out.data(), 4));
    EXPECT_FALSE(scatter_slices(w, data.data(), index.data(), out.data(), 4, DType::kUndefined,
                                ScatterReduction::kNone));
  }
}

}  // namespace
}  // namespace assay::kernels::indexed_test
