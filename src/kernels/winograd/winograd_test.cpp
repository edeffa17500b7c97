#include "kernels/winograd/winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/convert/convert.h"
#include "kernels/panel/panel_product.h"

namespace assay::kernels::winograd_test {
namespace {

std::vector<float> numbers(std::mt19937& random, int64_t count) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = uniform(random);
  return v;
}

/// The whole convolution, its products in double.
std::vector<float> convolve(const WinogradSize& s, const std::vector<float>& x, const std::vector<float>& w,
                            const float* bias) {
  const int64_t c = s.in_channels, n = s.out_channels, tiles = s.tiles(), points = s.points();
  std::vector<float> matrices(static_cast<size_t>(points * c * n)),
      a(static_cast<size_t>(points * tiles * c)), sums(static_cast<size_t>(points * tiles * n)),
      y(static_cast<size_t>(s.batch * s.out_height * s.out_width * n));
  for (int64_t first = 0; first < n; first += kWinogradOutputs)
    transform_winograd_weights(s, w.data(), first, std::min(kWinogradOutputs, n - first),
                               matrices.data() + first, n, c * n);
  // In two pieces, as threads do.
  const int64_t half = tiles / 2;
  std::vector<float> part(a.size());
  std::vector<uint8_t> special(static_cast<size_t>(tiles));
  for (const auto& [first, count] : {std::pair(int64_t{0}, half), std::pair(half, tiles - half)}) {
    transform_winograd_inputs(s, x.data(), first, count, {0, c}, {part.data(), c, count * c}, special.data());
    for (int64_t k = 0; k < count; ++k) EXPECT_EQ(special[k], 0);
    for (int64_t p = 0; p < points; ++p)
      std::copy_n(part.data() + p * count * c, count * c, a.data() + (p * tiles + first) * c);
  }
  for (int64_t p = 0; p < points; ++p)
    for (int64_t t = 0; t < tiles; ++t)
      for (int64_t o = 0; o < n; ++o) {
        double sum = 0;
        for (int64_t i = 0; i < c; ++i)
          sum += double{a[(p * tiles + t) * c + i]} * matrices[(p * c + i) * n + o];
        sums[(p * tiles + t) * n + o] = static_cast<float>(sum);
      }
  std::vector<float> tile(static_cast<size_t>(s.m * s.m * n));
  for (int64_t t = 0; t < tiles; ++t) {
    transform_winograd_outputs(s.m, sums.data() + t * n, tiles * n, n, bias, tile.data(), s.m * n, n);
    const WinogradSize::Corner corner = s.corner(t);
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.m; ++j) {
        const int64_t yy = corner.y + i * s.down, xx = corner.x + j * s.right;
        if (yy >= s.out_height || xx >= s.out_width) continue;
        std::copy_n(tile.data() + (i * s.m + j) * n, n,
                    y.data() + ((corner.image * s.out_height + yy) * s.out_width + xx) * n);
      }
  }
  return y;
}

TEST(Winograd, IsTheConvolution) {
  std::mt19937 random(1);
  for (const int64_t m : {2, 4})
    for (const auto& [down, right] : {std::pair(1, 1), std::pair(2, 2), std::pair(1, 3), std::pair(7, 4)})
      for (const int64_t height : {1, 3, 4, 7, 9, 14})
        for (const int64_t pad : {0, 1, 2, 8}) {
          const int64_t width = height + 3, out_height = height + 2 * pad - 2 * down,
                        out_width = width + 2 * pad - 2 * right;
          if (out_height < 1 || out_width < 1 || pad > 2 * down) continue;
          const WinogradSize s{.batch = 2,
                               .in_height = height,
                               .in_width = width,
                               .in_channels = 16,
                               .out_height = out_height,
                               .out_width = out_width,
                               .out_channels = 24,
                               .pad_top = pad,
                               .pad_left = pad,
                               .m = m,
                               .down = down,
                               .right = right};
          const std::vector<float> x = numbers(random, 2 * height * width * 16),
                                   w = numbers(random, 24 * 16 * 9), bias = numbers(random, 24);
          const std::vector<float> y = convolve(s, x, w, bias.data());
          for (int64_t b = 0; b < 2; ++b)
            for (int64_t i = 0; i < out_height; ++i)
              for (int64_t j = 0; j < out_width; ++j)
                for (int64_t o = 0; o < 24; ++o) {
                  double sum = bias[o];
                  for (int64_t c = 0; c < 16; ++c)
                    for (int64_t t = 0; t < 9; ++t) {
                      const int64_t yy = i + t / 3 * down - pad, xx = j + t % 3 * right - pad;
                      if (yy >= 0 && yy < height && xx >= 0 && xx < width)
                        sum += double{x[((b * height + yy) * width + xx) * 16 + c]} * w[(o * 16 + c) * 9 + t];
                    }
                  ASSERT_NEAR(y[((b * out_height + i) * out_width + j) * 24 + o], sum, m == 2 ? 1e-5 : 4e-5)
                      << m << " " << height << " " << pad << " " << down << " " << right;
                }
        }
}

TEST(Winograd, TilesWithInfinitiesAndNanAreMarked) {
  const WinogradSize s{.batch = 1,
                       .in_height = 8,
                       .in_width = 8,
                       .in_channels = 16,
                       .out_height = 8,
                       .out_width = 8,
                       .out_channels = 8,
                       .pad_top = 1,
                       .pad_left = 1,
                       .m = 4};
  std::vector<float> x(8 * 8 * 16, 1), a(static_cast<size_t>(s.points() * 4 * 16));
  for (const float special : {INFINITY, -INFINITY, NAN}) {
    x[(0 * 8 + 7) * 16 + 9] = special;  // only the tile at the right above sees it
    uint8_t marked[4];
    transform_winograd_inputs(s, x.data(), 0, 4, {0, 16}, {a.data(), 16, 4 * 16}, marked);
    EXPECT_EQ(std::vector<uint8_t>(marked, marked + 4), (std::vector<uint8_t>{0, 1, 0, 0}));
  }
}

TEST(Winograd, ImagesInBfloat16AreReadAsTheyAre) {
  std::mt19937 random(8);
  for (const int64_t m : {2, 4})
    for (const int64_t channels : {8, 48}) {
      WinogradSize s{.batch = 2,
                     .in_height = 9,
                     .in_width = 7,
                     .in_channels = channels,
                     .out_height = 9,
                     .out_width = 7,
                     .out_channels = 16,
                     .pad_top = 1,
                     .pad_left = 1,
                     .m = m};
      std::vector<float> x = numbers(random, 2 * 9 * 7 * channels);
      std::vector<uint16_t> narrow(x.size());
      narrow_row(DType::kBFloat16, x.data(), narrow.data(), x.size());
      widen_row(DType::kBFloat16, narrow.data(), x.data(), x.size());
      const int64_t tiles = s.tiles();
      std::vector<float> wide(static_cast<size_t>(s.points() * tiles * channels)), read = wide;
      std::vector<uint8_t> special(static_cast<size_t>(tiles));
      transform_winograd_inputs(s, x.data(), 0, tiles, {0, channels},
                                {wide.data(), channels, tiles * channels}, special.data());
      s.is_narrow = true;
      transform_winograd_inputs(s, narrow.data(), 0, tiles, {0, channels},
                                {read.data(), channels, tiles * channels}, special.data());
      EXPECT_EQ(read, wide);
    }
}

}  // namespace
}  // namespace assay::kernels::winograd_test
