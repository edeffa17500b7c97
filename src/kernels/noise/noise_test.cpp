#include "kernels/noise/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay::kernels::noise_test {
namespace {

uint64_t mixed(uint64_t key, uint64_t part) {
  uint64_t z = key + (part + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

double drawn(uint64_t key, uint64_t place) {
  const uint64_t z = mixed(key, place);
  const double magnitude = 0.5 + static_cast<double>(static_cast<int64_t>(z >> 11)) * 0x1p-54;
  return (z & 1) != 0 ? magnitude : -magnitude;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What an element is with its error, by the definition.
double with_error(const RandomErrors& errors, uint64_t place, double y, double size) {
  const double noise =
      drawn(errors.key, place) + (errors.repeats ? 0.5 * drawn(errors.repeated_key, place) : 0);
  const double error = (size > 0 ? size + errors.beside : size) * noise;
  if (size == kInfinity && std::isfinite(y)) return std::nan("");
  double result = std::isfinite(error) ? y + error : y;
  if (result * y < 0 && size <= std::abs(y)) result = 0;
  return std::abs(result) >= errors.overflow ? std::copysign(kInfinity, result) : result;
}

struct Numbers {
  std::vector<double> y, size;
};

/// Also zeros, infinities, NaN and negative sizes.
Numbers all_kinds(int64_t count) {
  Numbers n;
  for (int64_t i = 0; i < count; ++i) {
    n.y.push_back(i % 7 == 0 ? 99.9 : 0.5 * static_cast<double>(i) - 3);
    n.size.push_back(i % 5 == 0    ? 0
                     : i % 11 == 3 ? kInfinity
                     : i % 13 == 4 ? -1
                                   : 0.1 * static_cast<double>(i));
  }
  if (count > 8) n.y[8] = kInfinity, n.y[2] = std::nan("");
  return n;
}

TEST(RandomErrors, AreThoseOfEachPlace) {
  for (const bool repeats : {false, true})
    for (const int64_t count : {1, 3, 7, 8, 9, 31, 64, 100})
      for (const uint64_t first : {uint64_t{0}, uint64_t{5}, ~uint64_t{0} - 20}) {
        const RandomErrors errors{
            .key = 17, .repeated_key = 99, .repeats = repeats, .beside = 0.25, .overflow = 100};
        auto [y, size] = all_kinds(count);
        std::vector<double> out(y.size());
        add_random_errors(errors, first, count, y.data(), size.data(), out.data());
        for (size_t i = 0; i < y.size(); ++i) {
          const double expected = with_error(errors, first + i, y[i], size[i]);
          if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(out[i]));
          else
            EXPECT_DOUBLE_EQ(out[i], expected) << i << " of " << count << " from " << first;
        }
        add_random_errors(errors, first, count, y.data(), size.data(), y.data());
        for (size_t i = 0; i < y.size(); ++i) EXPECT_TRUE(y[i] == out[i] || std::isnan(y[i]));
      }
}

TEST(RandomErrors, OfNumbersNearZeroChangeNoSign) {
  const RandomErrors errors{.key = 5, .beside = 1e-38, .overflow = HUGE_VAL};
  std::vector<double> y(64), out(64);
  const std::vector<double> size(64, 1e-50);
  for (size_t i = 0; i < y.size(); ++i) y[i] = i % 2 == 0 ? 1e-42 : -1e-42;
  add_random_errors(errors, 0, 64, y.data(), size.data(), out.data());
  int zeros = 0, moved = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_GE(out[i] * y[i], 0) << i;
    zeros += out[i] == 0;
    moved += std::abs(out[i]) > 1e-39;
  }
  EXPECT_GT(zeros, 0);
  EXPECT_GT(moved, 0);
}

}  // namespace
}  // namespace assay::kernels::noise_test
