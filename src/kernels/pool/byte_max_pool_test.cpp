#include "kernels/pool/byte_max_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::byte_max_pool_test {
namespace {

/// The largest number of a channel in the window of a position over all images.
template <typename T>
T expected(const Window& w, const std::vector<T>& x, int64_t channels, int64_t position, int64_t channel) {
  T most = std::numeric_limits<T>::lowest();
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
    if (inside) most = std::max(most, x[static_cast<size_t>(element * channels + channel)]);
  }
  return most;
}

template <typename T>
void expect_maxima(const Window& w, int64_t channels) {
  std::mt19937 random(3);
  std::vector<T> x(static_cast<size_t>(2 * w.in_size() * channels));
  for (T& v : x) v = static_cast<T>(random());
  const int64_t all = 2 * w.out_size(), some = all / 3;
  std::vector<T> y(static_cast<size_t>(all * channels));
  constexpr bool kSigned = std::is_signed_v<T>;
  byte_max_pool(w, kSigned, channels, 0, some, x.data(), y.data());
  byte_max_pool(w, kSigned, channels, some, all - some, x.data(), y.data() + some * channels);
  for (int64_t p = 0; p < all; ++p)
    for (int64_t c = 0; c < channels; ++c)
      ASSERT_EQ(y[static_cast<size_t>(p * channels + c)], expected(w, x, channels, p, c)) << p << " " << c;
}

TEST(ByteMaxPool, IsTheLargestOfEveryChannel) {
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
      // Rows with several positions that lie inside, and one behind another image's.
      {.in = {5, 16},
       .out = {3, 8},
       .kernel = {3, 3},
       .strides = {2, 2},
       .dilations = {1, 1},
       .begin = {1, 1},
       .end = {1, 1}},
      {.in = {1, 9},
       .out = {1, 7},
       .kernel = {1, 3},
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
      for (const int64_t channels : {1, 3, 16, 47, 64, 150}) {
        expect_maxima<uint8_t>(w, channels);
        expect_maxima<int8_t>(w, channels);
      }
  });
}

}  // namespace
}  // namespace assay::kernels::byte_max_pool_test
