#include "kernels/resize/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/every_target.h"

namespace assay::kernels::resize_test {
namespace {

ResizeAxis random_axis(std::mt19937& random, int64_t in, int64_t out, int64_t taps) {
  ResizeAxis axis{.taps = taps};
  for (int64_t i = 0; i < out * taps; ++i) {
    axis.index.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(in)));
    axis.weight.push_back(taps == 1 ? 1.0f : static_cast<float>(random() % 100) / 64);
  }
  return axis;
}

TEST(Resize, MatchesAPlainLoop) {
  std::mt19937 random(11);
  for (const int64_t inner : {1, 3, 16})
    for (const int64_t taps : {1, 2, 4}) {
      const int64_t planes = 3, ih = 5, iw = 7, oh = 9, ow = 40;
      const ResizeAxis rows = random_axis(random, ih, oh, taps), columns = random_axis(random, iw, ow, taps);
      EXPECT_EQ(rows.selects(), taps == 1);
      std::vector<float> x(static_cast<size_t>(planes * ih * iw * inner)),
          y(static_cast<size_t>(planes * oh * ow * inner));
      for (float& v : x) v = static_cast<float>(random() % 1000) / 100;
      resize(x.data(), y.data(), planes, ih, iw, inner, rows, columns);
      for (int64_t p = 0; p < planes; ++p)
        for (int64_t r = 0; r < oh; ++r)
          for (int64_t c = 0; c < ow; ++c)
            for (int64_t i = 0; i < inner; ++i) {
              double t = 0;
              for (int64_t a = 0; a < taps; ++a)
                for (int64_t b = 0; b < taps; ++b)
                  t +=
                      static_cast<double>(rows.weight[r * taps + a]) * columns.weight[c * taps + b] *
                      x[((p * ih + rows.index[r * taps + a]) * iw + columns.index[c * taps + b]) * inner + i];
              ASSERT_NEAR(y[((p * oh + r) * ow + c) * inner + i], t, 1e-5 * (1 + t));
            }
    }
}

/// Numbers of 8 bits between others.
void expect_bytes(bool reads_signed, bool makes_signed, int64_t inner, int64_t taps, std::mt19937& random) {
  const int64_t planes = 2, ih = 5, iw = 7, oh = 9, ow = 11;
  const ResizeAxis rows = random_axis(random, ih, oh, taps), columns = random_axis(random, iw, ow, taps);
  const ByteSteps steps{{reads_signed, 0.11F, reads_signed ? -7 : 130},
                        {makes_signed, 0.23F, makes_signed ? 9 : 100}};
  std::vector<uint8_t> x(static_cast<size_t>(planes * ih * iw * inner)),
      y(static_cast<size_t>(planes * oh * ow * inner));
  for (uint8_t& v : x) v = static_cast<uint8_t>(random());
  resize_bytes(x.data(), y.data(), steps, planes, ih, iw, inner, rows, columns);
  const auto number = [](uint8_t byte, bool is_signed) {
    return static_cast<double>(is_signed ? static_cast<int8_t>(byte) : byte);
  };
  const double least = makes_signed ? -128 : 0;
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t r = 0; r < oh; ++r)
      for (int64_t c = 0; c < ow; ++c)
        for (int64_t i = 0; i < inner; ++i) {
          double t = 0;
          for (int64_t a = 0; a < taps; ++a)
            for (int64_t b = 0; b < taps; ++b) {
              const int64_t at = ((p * ih + rows.index[static_cast<size_t>(r * taps + a)]) * iw +
                                  columns.index[static_cast<size_t>(c * taps + b)]) *
                                     inner +
                                 i;
              t += static_cast<double>(rows.weight[static_cast<size_t>(r * taps + a)]) *
                   columns.weight[static_cast<size_t>(c * taps + b)] *
                   (number(x[static_cast<size_t>(at)], reads_signed) - steps.from.zero_point);
            }
          const double level =
              std::clamp(t * steps.from.scale / steps.to.scale + steps.to.zero_point, least, least + 255);
          ASSERT_NEAR(number(y[static_cast<size_t>(((p * oh + r) * ow + c) * inner + i)], makes_signed),
                      level, 0.501);
        }
}

TEST(Resize, BytesAreRoundedOnce) {
  std::mt19937 random(13);
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const int64_t inner : {1, 16, 45})
      for (const int64_t taps : {1, 2, 4})
        for (int signs = 0; signs < 4; ++signs)
          expect_bytes((signs & 1) != 0, (signs & 2) != 0, inner, taps, random);
  });
}

TEST(Resize, PixelsOfAnySizeAreSelected) {
  std::mt19937 random(12);
  for (const int64_t bytes : {1, 2, 4, 13}) {
    const int64_t planes = 2, ih = 4, iw = 5, oh = 9, ow = 12;
    ResizeAxis rows = random_axis(random, ih, oh, 1);
    const ResizeAxis columns = random_axis(random, iw, ow, 1);
    rows.index[5] = rows.index[4];
    std::vector<uint8_t> x(static_cast<size_t>(planes * ih * iw * bytes)),
        y(static_cast<size_t>(planes * oh * ow * bytes));
    for (uint8_t& v : x) v = static_cast<uint8_t>(random());
    select_pixels(x.data(), y.data(), planes, ih, iw, bytes, rows, columns);
    for (int64_t p = 0; p < planes; ++p)
      for (int64_t r = 0; r < oh; ++r)
        for (int64_t c = 0; c < ow; ++c)
          for (int64_t i = 0; i < bytes; ++i)
            ASSERT_EQ(y[static_cast<size_t>(((p * oh + r) * ow + c) * bytes + i)],
                      x[static_cast<size_t>(((p * ih + rows.index[r]) * iw + columns.index[c]) * bytes + i)]);
  }
}

}  // namespace
}  // namespace assay::kernels::resize_test
