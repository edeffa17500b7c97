#include "kernels/channel_window/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::pool_test {
namespace {

double expected(const ChannelWindow& w, PoolKind kind, const std::vector<float>& x, int64_t row,
                int64_t column, int64_t channel) {
  double most = -INFINITY, sum = 0;
  int64_t count = 0;
  for (int64_t k = 0; k < w.kernel_rows; ++k)
    for (int64_t j = 0; j < w.kernel_columns; ++j) {
      const int64_t r = row * w.row_stride - w.top + k * w.row_dilation,
                    c = column * w.column_stride - w.left + j * w.column_dilation;
      if (r < 0 || r >= w.in_rows || c < 0 || c >= w.in_columns) continue;
      const double v = x[static_cast<size_t>((r * w.in_columns + c) * w.channels + channel)];
      if (std::isnan(v) || v > most) most = std::isnan(most) ? most : v;
      sum += v;
      ++count;
    }
  return kind == PoolKind::kMax ? most
                                : sum / static_cast<double>(kind == PoolKind::kAverage ? count : w.taps());
}

/// Every kind over every window, in groups of blocks, with NaN and infinities in some places.
TEST(PoolRow, IsThePoolingOfEveryChannel) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const int64_t channels : {1, 16, 40, 150})
      for (const int64_t extent : {1, 2, 5, 12})
        for (const int64_t kernel : {1, 2, 3, 5})
          for (const int64_t stride : {1, 2})
            for (const int64_t dilation : {1, 2})
              for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kAverageWithPads}) {
                const int64_t reach = (kernel - 1) * dilation + 1, pad = (kernel - 1) / 2 * dilation,
                              columns = extent + 2;
                if (reach > extent + 2 * pad) continue;
                ChannelWindow w{.kernel_rows = kernel,
                                .kernel_columns = kernel,
                                .row_stride = stride,
                                .column_stride = stride,
                                .row_dilation = dilation,
                                .column_dilation = dilation,
                                .top = pad,
                                .left = pad,
                                .in_rows = extent,
                                .in_columns = columns,
                                .out_columns = (columns + 2 * pad - reach) / stride + 1,
                                .channels = channels,
                                .pixel = channels,
                                .row = columns * channels,
                                .block = kChannelBlock,
                                .out_pixel = channels,
                                .out_block = kChannelBlock};
                std::mt19937 random(3);
                std::uniform_real_distribution<float> uniform(-1, 1);
                std::vector<float> x(static_cast<size_t>(extent * columns * channels));
                for (float& f : x) f = uniform(random);
                if (channels == 40) x.front() = NAN, x.back() = INFINITY, x[x.size() / 2] = -INFINITY;
                const int64_t rows = (extent + 2 * pad - reach) / stride + 1;
                std::vector<float> y(static_cast<size_t>(w.out_columns * channels + 3));
                for (int64_t r = 0; r < rows; ++r) {
                  std::fill(y.begin(), y.end(), 77.0F);
                  for (int64_t b = 0; b < w.blocks(); b += 3)
                    pool_row(w, kind, x.data(), r, b, std::min<int64_t>(3, w.blocks() - b), y.data());
                  for (int64_t c = 0; c < w.out_columns; ++c)
                    for (int64_t i = 0; i < channels; ++i) {
                      const double wanted = expected(w, kind, x, r, c, i);
                      const float got = y[static_cast<size_t>(c * channels + i)];
                      if (std::isnan(wanted))
                        ASSERT_TRUE(std::isnan(got));
                      else if (std::isinf(wanted))
                        ASSERT_EQ(got, wanted);
                      else
                        ASSERT_NEAR(got, wanted, kind == PoolKind::kMax ? 0 : 1e-6);
                    }
                  ASSERT_EQ(y[y.size() - 3], 77) << "what follows was touched";
                }
              }
  });
}

}  // namespace
}  // namespace assay::kernels::pool_test
