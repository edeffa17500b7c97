#include "kernels/channel_window/few_output_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/every_target.h"

namespace assay::kernels::few_output_conv_test {
namespace {

/// One image, which nothing surrounds in memory.
struct Case {
  FewOutputConv conv;
  int64_t rows;
  std::vector<float> x, w, bias, packed, y;

  Case(ChannelWindow c, int64_t outputs, int64_t bottom, int64_t right, bool blocked) : conv{c, outputs} {
    ChannelWindow& v = conv.window;
    const auto out = [](int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
      return (in + pads - (kernel - 1) * dilation - 1) / stride + 1;
    };
    rows = out(c.in_rows, c.top + bottom, c.kernel_rows, c.row_dilation, c.row_stride);
    v.out_columns = out(c.in_columns, c.left + right, c.kernel_columns, c.column_dilation, c.column_stride);
    v.pixel = blocked ? kChannelBlock : c.channels;
    v.row = c.in_columns * v.pixel;
    v.block = blocked ? c.in_rows * v.row : kChannelBlock;
    v.fills_blocks = blocked;
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    x.resize(
        static_cast<size_t>((blocked ? v.blocks() * kChannelBlock : c.channels) * c.in_rows * c.in_columns));
    w.resize(static_cast<size_t>(outputs * c.channels * c.taps()));
    bias.resize(static_cast<size_t>(outputs));
    for (auto* list : {&x, &w, &bias})
      for (float& f : *list) f = uniform(random);
    if (blocked)
      for (size_t i = 0; i < x.size(); ++i)
        if (channel_of(static_cast<int64_t>(i)) >= c.channels) x[i] = 0;
    packed.assign(static_cast<size_t>(conv.packed_floats()), NAN);
    pack_few_output_conv(conv, w.data(), packed.data());
    y.assign(static_cast<size_t>(outputs * rows * v.out_columns + 5), 77);
  }
  int64_t channel_of(int64_t place) const {
    return place / conv.window.block * kChannelBlock + place % kChannelBlock;
  }
  double expected(int64_t row, int64_t column, int64_t output, bool with_bias) const {
    const ChannelWindow& v = conv.window;
    double sum = with_bias ? bias[static_cast<size_t>(output)] : 0;
    const float* weight = w.data() + output * v.channels * v.taps();
    for (int64_t i = 0; i < v.channels; ++i)
      for (int64_t k = 0; k < v.kernel_rows; ++k)
        for (int64_t j = 0; j < v.kernel_columns; ++j, ++weight) {
          const int64_t r = row * v.row_stride - v.top + k * v.row_dilation,
                        c = column * v.column_stride - v.left + j * v.column_dilation;
          if (r < 0 || r >= v.in_rows || c < 0 || c >= v.in_columns) continue;
          sum += double{x[static_cast<size_t>(i / kChannelBlock * v.block + i % kChannelBlock + r * v.row +
                                              c * v.pixel)]} *
                 *weight;
        }
    return sum;
  }
  void check(bool with_bias) {
    const int64_t columns = conv.window.out_columns, plane = rows * columns;
    for (int64_t r = 0; r < rows; ++r)
      few_output_conv_row(conv, x.data(), packed.data(), with_bias ? bias.data() : nullptr, r,
                          y.data() + r * columns, plane);
    for (int64_t o = 0; o < conv.outputs; ++o)
      for (int64_t i = 0; i < plane; ++i) {
        const float got = y[static_cast<size_t>(o * plane + i)];
        const double wanted = expected(i / columns, i % columns, o, with_bias);
        if (std::isfinite(wanted))
          ASSERT_NEAR(got, wanted, 2e-7 * static_cast<double>(conv.window.channels * conv.window.taps() + 1))
              << o << " of " << conv.outputs << ", " << conv.window.channels << " channels, " << i;
        else
          ASSERT_TRUE(std::isnan(wanted) ? std::isnan(got) : got == wanted) << got << " for " << wanted;
      }
    for (size_t i = y.size() - 5; i < y.size(); ++i) ASSERT_EQ(y[i], 77) << "beyond the results";
  }
};

std::vector<Case> cases(int64_t channels, int64_t outputs, bool blocked) {
  std::vector<Case> all;
  for (const int64_t columns : {1, 9, 37})
    for (const auto& [kernel_rows, kernel_columns] : {std::pair{3, 3}, {1, 7}, {2, 4}, {1, 1}})
      for (const int64_t stride : {1, 2})
        for (const int64_t dilation : {1, 2}) {
          const ChannelWindow c{.kernel_rows = kernel_rows,
                                .kernel_columns = kernel_columns,
                                .row_stride = stride,
                                .column_stride = stride,
                                .row_dilation = dilation,
                                .column_dilation = dilation,
                                .top = (kernel_rows - 1) * dilation,
                                .left = (kernel_columns - 1) * dilation + (columns == 9 ? 2 : 0),
                                .in_rows = 4,
                                .in_columns = columns,
                                .channels = channels};
          all.emplace_back(c, outputs, 3, columns == 1 ? 5 : 1, blocked);
        }
  return all;
}

TEST(FewOutputConv, IsTheConvolution) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (const int64_t channels : {1, 8, 16, 21, 64})
        for (const int64_t outputs : {1, 2, 3, 4, 7, 8})
          for (Case& c : cases(channels, outputs, blocked)) c.check(outputs % 2 == 0);
  });
}

TEST(FewOutputConv, InfinitiesAndNanStayInTheirWindows) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (Case& c : cases(27, 3, blocked)) {
        c.x.front() = INFINITY;
        c.x[c.x.size() / 2 / kChannelBlock * kChannelBlock] = NAN;
        c.check(true);
      }
  });
}

}  // namespace
}  // namespace assay::kernels::few_output_conv_test
