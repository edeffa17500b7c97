#include "kernels/resize/resize.h"

#include <gtest/gtest.h>

#include <random>

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
