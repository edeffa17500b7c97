#include "kernels/pool/byte_average_pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::byte_average_pool_test {
namespace {

constexpr int kZeroPoint = 7;
constexpr float kScale = 0.037F;

/// The sum of a channel in the window of a position over all images, and how many pixels it has.
struct WindowSum {
  int64_t sum = 0, pixels = 0;
};

template <typename T>
WindowSum expected_sum(const Window& w, const std::vector<T>& x, int64_t channels, int64_t position,
                       int64_t channel) {
  WindowSum found;
  for (int64_t tap = 0; tap < w.taps(); ++tap) {
    int64_t element = 0, size = 1, place = position % w.out_size(), t = tap;
    bool inside = true;
    for (size_t a = w.rank(); a-- > 0;) {
      const int64_t i = place % w.out[a] * w.strides[a] + t % w.kernel[a] * w.dilations[a] - w.begin[a];
      inside = inside && i >= 0 && i < w.in[a];
      element += i * size;
      size *= w.in[a];
      place /= w.out[a];
      t /= w.kernel[a];
    }
    element += position / w.out_size() * w.in_size();
    if (!inside) continue;
    ++found.pixels;
    found.sum += x[static_cast<size_t>(element * channels + channel)] - kZeroPoint;
  }
  return found;
}

template <typename T>
void expect_averages(const Window& w, int64_t channels, bool counts_pads) {
  std::mt19937 random(3);
  std::vector<T> x(static_cast<size_t>(2 * w.in_size() * channels));
  for (T& v : x) v = static_cast<T>(random());
  const int64_t all = 2 * w.out_size(), some = all / 3, part = channels / 2;
  constexpr bool kSigned = std::is_signed_v<T>;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Requantization end{
      .low = -kInfinity, .high = kInfinity, .scale = 0.021F, .zero_point = 3, .is_signed = kSigned};
  ByteAverages averages{.images = {&w, channels, 1, kSigned, kZeroPoint},
                        .scale = kScale,
                        .counts_pads = counts_pads,
                        .end = nullptr};
  std::vector<float> numbers(static_cast<size_t>(all * channels));
  std::vector<T> levels(numbers.size());
  // Positions and channels in two parts each.
  const auto run = [&](auto* y) {
    for (const auto& [first, count] : {std::pair{int64_t{0}, some}, {some, all - some}})
      for (const auto& [channel, width] : {std::pair{int64_t{0}, part}, {part, channels - part}})
        byte_average_pool(averages, x.data(), first, count, channel, width, y + first * channels);
  };
  run(numbers.data());
  averages.end = &end;
  run(levels.data());
  for (int64_t p = 0; p < all; ++p)
    for (int64_t c = 0; c < channels; ++c) {
      const WindowSum s = expected_sum(w, x, channels, p, c);
      const int64_t taps = counts_pads ? w.taps() : std::max<int64_t>(1, s.pixels);
      const double exact = static_cast<double>(s.sum) * kScale / static_cast<double>(taps);
      const auto at = static_cast<size_t>(p * channels + c);
      ASSERT_NEAR(numbers[at], exact, 1e-6 * std::abs(exact)) << p << " " << c;
      const double level = exact / end.scale + end.zero_point, most = double{std::numeric_limits<T>::max()},
                   least = double{std::numeric_limits<T>::min()};
      ASSERT_NEAR(levels[at], std::clamp(level, least, most), 0.5001) << p << " " << c;
    }
}

TEST(ByteAveragePool, IsTheAverageOfEveryChannel) {
  const std::vector<Window> windows = {
      {.in = {9}, .out = {5}, .kernel = {3}, .strides = {2}, .dilations = {1}, .begin = {1}, .end = {1}},
      // Some windows hold nothing.
      {.in = {3}, .out = {9}, .kernel = {2}, .strides = {1}, .dilations = {2}, .begin = {4}, .end = {4}},
      {.in = {7, 8},
       .out = {4, 4},
       .kernel = {3, 3},
       .strides = {2, 2},
       .dilations = {1, 1},
       .begin = {1, 1},
       .end = {1, 1}},
      {.in = {7, 5},
       .out = {5, 3},
       .kernel = {2, 3},
       .strides = {1, 1},
       .dilations = {2, 2},
       .begin = {0, 1},
       .end = {0, 1}},
      // More pixels than 16 bits hold the sum of.
      {.in = {31, 29},
       .out = {1, 1},
       .kernel = {31, 29},
       .strides = {1, 1},
       .dilations = {1, 1},
       .begin = {0, 0},
       .end = {0, 0}},
      {.in = {3, 4, 5},
       .out = {2, 3, 5},
       .kernel = {2, 2, 3},
       .strides = {1, 1, 1},
       .dilations = {1, 1, 1},
       .begin = {0, 0, 1},
       .end = {0, 0, 1}},
  };
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const Window& w : windows)
      for (const int64_t channels : {1, 3, 16, 47, 64, 150})
        for (const bool counts_pads : {false, true}) {
          SCOPED_TRACE(channels);
          expect_averages<uint8_t>(w, channels, counts_pads);
          expect_averages<int8_t>(w, channels, counts_pads);
        }
  });
}

/// Longer rows of sums than are finished at a time.
TEST(ByteAveragePool, ManyChannels) {
  const Window w{
      .in = {4}, .out = {2}, .kernel = {2}, .strides = {2}, .dilations = {1}, .begin = {0}, .end = {0}};
  expect_averages<int8_t>(w, 5000, false);
}

}  // namespace
}  // namespace assay::kernels::byte_average_pool_test
