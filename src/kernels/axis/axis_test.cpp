// The kernels along one axis, against their definitions element by element.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/axis/extreme.h"
#include "kernels/axis/running.h"
#include "kernels/axis/top_k.h"
#include "kernels/every_target.h"

namespace assay::kernels::axis_test {
namespace {

template <typename T>
constexpr DType kType = std::is_same_v<T, float>      ? DType::kFloat32
                        : std::is_same_v<T, double>   ? DType::kFloat64
                        : std::is_same_v<T, int64_t>  ? DType::kInt64
                        : std::is_same_v<T, int32_t>  ? DType::kInt32
                        : std::is_same_v<T, int16_t>  ? DType::kInt16
                        : std::is_same_v<T, int8_t>   ? DType::kInt8
                        : std::is_same_v<T, uint64_t> ? DType::kUInt64
                        : std::is_same_v<T, uint32_t> ? DType::kUInt32
                        : std::is_same_v<T, uint16_t> ? DType::kUInt16
                                                      : DType::kUInt8;
template <typename Fn>
void for_each_number(Fn check) {
  check(float{}), check(double{}), check(int64_t{}), check(int32_t{}), check(int16_t{}), check(int8_t{});
  check(uint64_t{}), check(uint32_t{}), check(uint16_t{}), check(uint8_t{});
}

/// Few different numbers, so that many are equal; floats with NaN, infinities and both zeros.
template <typename T>
std::vector<T> numbers(int64_t count, unsigned seed, bool special) {
  std::mt19937 random(seed);
  std::vector<T> x(static_cast<size_t>(count));
  for (T& v : x) {
    const int draw = static_cast<int>(random() % 40);
    v = static_cast<T>(draw - (std::is_signed_v<T> ? 20 : 0));
    if constexpr (std::is_floating_point_v<T>) {
      using L = std::numeric_limits<T>;
      if (draw == 20) v = T(-0.0);
      if (special && random() % 16 == 0)
        v = draw % 3 == 0 ? L::quiet_NaN() : draw % 3 == 1 ? L::infinity() : -L::infinity();
    }
  }
  return x;
}

const std::vector<AxisWalk>& walks() {
  static const std::vector<AxisWalk> all = [] {
    std::vector<AxisWalk> w;
    for (const auto& [outer, extent, inner] : {std::array<int64_t, 3>{1, 1, 1},
                                               {3, 1000, 1},
                                               {2, 7, 1},
                                               {5, 129, 1},
                                               {1, 600, 3},
                                               {2, 300, 67},
                                               {3, 5, 300},
                                               {1, 2, 17},
                                               {4, 1, 9},
                                               {0, 4, 3},
                                               {3, 4, 0}}) {
      w.emplace_back();
      w.back().outer = outer, w.back().extent = extent, w.back().inner = inner;
    }
    return w;
  }();
  return all;
}

template <typename T>
void check_extremes(const AxisWalk& w, ExtremeRule rule, bool special) {
  const std::vector<T> x = numbers<T>(w.lines() * w.extent, 5, special);
  std::vector<int64_t> places(static_cast<size_t>(w.lines()), -1);
  find_extremes(w, kType<T>, rule, x.data(), places.data());
  for (int64_t line = 0; line < w.lines(); ++line) {
    const T* p = x.data() + line / w.inner * w.extent * w.inner + line % w.inner;
    int64_t best = 0;
    for (int64_t j = 1; j < w.extent; ++j) {
      const T v = p[j * w.inner], b = p[best * w.inner];
      const bool equal = v == b || (v != v && b != b);
      const bool better = b == b && (v != v || (rule.largest ? v > b : v < b));
      if (better || (rule.last && equal)) best = j;
    }
    ASSERT_EQ(places[static_cast<size_t>(line)], best)
        << "line " << line << " of " << w.outer << "x" << w.extent << "x" << w.inner << " last " << rule.last;
  }
}

TEST(Extremes, AreTheFirstOrLastOfTheBestAndNanIsBest) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const AxisWalk& w : walks())
      for (const bool largest : {true, false})
        for (const bool last : {true, false})
          for (const bool special : {true, false})
            for_each_number([&]<typename T>(T) { check_extremes<T>(w, {largest, last}, special); });
  });
}

template <typename T>
void check_running(const AxisWalk& w, RunningRule rule) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  const std::vector<T> x = numbers<T>(w.lines() * w.extent, 7, false);
  std::vector<T> y(x.size());
  run_along(w, kType<T>, rule, x.data(), y.data());
  for (int64_t line = 0; line < w.lines(); ++line) {
    const int64_t at = line / w.inner * w.extent * w.inner + line % w.inner;
    Sum sum = rule.product ? 1 : 0;
    for (int64_t k = 0; k < w.extent; ++k) {
      const int64_t j = rule.reverse ? w.extent - 1 - k : k;
      const auto i = static_cast<size_t>(at + j * w.inner);
      const auto v = static_cast<Sum>(x[i]), before = sum;
      sum = rule.product ? sum * v : sum + v;
      const T expected = static_cast<T>(rule.exclusive ? before : sum);
      ASSERT_TRUE(y[i] == expected || (y[i] != y[i] && expected != expected)) << i << ": " << y[i];
    }
  }
}

TEST(Running, SumsAndProductsFollowTheAxisInBothDirections) {
  for (const AxisWalk& w : walks())
    for (const bool product : {false, true})
      for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true})
          for_each_number([&]<typename T>(T) {
            if (is_running_number(kType<T>)) check_running<T>(w, {product, exclusive, reverse});
          });
}

template <typename T>
void check_top_k(const AxisWalk& w, int64_t k, bool largest, bool special) {
  const std::vector<T> x = numbers<T>(w.lines() * w.extent, 9, special);
  std::vector<T> values(static_cast<size_t>(w.lines() * k));
  std::vector<int64_t> places(values.size(), -1);
  ASSERT_TRUE(top_k(w, kType<T>, k, largest, x.data(), values.data(), places.data()));
  std::vector<int64_t> order(static_cast<size_t>(w.extent));
  for (int64_t line = 0; line < w.lines(); ++line) {
    const T* p = x.data() + line / w.inner * w.extent * w.inner + line % w.inner;
    std::iota(order.begin(), order.end(), int64_t{0});
    const auto greater = [](T a, T b) { return a != a || b != b ? a != a && b == b : a > b; };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return largest ? greater(p[a * w.inner], p[b * w.inner]) : greater(p[b * w.inner], p[a * w.inner]);
    });
    for (int64_t j = 0; j < k; ++j) {
      const auto at = static_cast<size_t>(line / w.inner * k * w.inner + j * w.inner + line % w.inner);
      const int64_t place = order[static_cast<size_t>(j)];
      ASSERT_EQ(places[at], place) << "line " << line << ", number " << j << " of " << k;
      ASSERT_EQ(std::memcmp(&values[at], &p[place * w.inner], sizeof(T)), 0);
    }
  }
}

TEST(TopK, BestInOrderWithTheFirstOfEqualOnesFirst) {
  for (const AxisWalk& w : walks())
    for (const int64_t k : {int64_t{0}, int64_t{1}, w.extent / 7, w.extent / 2, w.extent})
      for (const bool largest : {true, false})
        for (const bool special : {true, false})
          for_each_number([&]<typename T>(T) { check_top_k<T>(w, k, largest, special); });
}

}  // namespace
}  // namespace assay::kernels::axis_test
