#include "kernels/channel_window/image_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/channel_window/epilogue_check.h"
#include "kernels/every_target.h"

namespace assay::kernels::image_conv_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr EpilogueParameters kAsItIs{-kInfinity, kInfinity};

double same(double x) { return x; }

/// Rows of one image, which nothing surrounds in memory.
struct Case {
  ImageConv conv;
  int64_t rows;
  std::vector<float> x, w, bias, packed, scratch, y;

  Case(ChannelWindow c, int64_t planes, int64_t bottom, int64_t right, bool blocked) : conv{c, planes} {
    const auto out = [](int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
      return (in + pads - (kernel - 1) * dilation - 1) / stride + 1;
    };
    ChannelWindow& v = conv.window;
    rows = out(c.in_rows, c.top + bottom, c.kernel_rows, c.row_dilation, c.row_stride);
    v.out_columns = out(c.in_columns, c.left + right, c.kernel_columns, c.column_dilation, c.column_stride);
    v.pixel = 1;
    v.row = c.in_columns;
    v.block = c.in_rows * c.in_columns;
    v.fills_blocks = blocked;
    v.out_pixel = blocked ? kChannelBlock : c.channels;
    v.out_block = blocked ? rows * v.out_columns * kChannelBlock : kChannelBlock;
    const int64_t stored = blocked ? v.blocks() * kChannelBlock : c.channels;
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    x.resize(static_cast<size_t>(planes * v.block));
    w.resize(static_cast<size_t>(c.channels * conv.taps()));
    bias.resize(static_cast<size_t>(v.bias_floats()));
    for (auto* numbers : {&x, &w, &bias})
      for (float& f : *numbers) f = uniform(random);
    std::fill(bias.begin() + c.channels, bias.end(), 0.0F);
    packed.assign(static_cast<size_t>(conv.packed_floats()), NAN);
    pack_channel_blocks(c.channels, conv.taps(), w.data(), packed.data());
    scratch.assign(static_cast<size_t>(conv.scratch_floats()), NAN);
    y.assign(static_cast<size_t>(stored * rows * v.out_columns + 5), 77);
  }

  double expected(int64_t row, int64_t column, int64_t channel, bool with_bias) const {
    const ChannelWindow& v = conv.window;
    double sum = with_bias ? bias[static_cast<size_t>(channel)] : 0;
    const float* weight = w.data() + channel * conv.taps();
    for (int64_t p = 0; p < conv.planes; ++p)
      for (int64_t k = 0; k < v.kernel_rows; ++k)
        for (int64_t j = 0; j < v.kernel_columns; ++j, ++weight) {
          const int64_t r = row * v.row_stride - v.top + k * v.row_dilation,
                        c = column * v.column_stride - v.left + j * v.column_dilation;
          if (r < 0 || r >= v.in_rows || c < 0 || c >= v.in_columns) continue;
          sum += double{x[static_cast<size_t>(p * v.block + r * v.row + c)]} * *weight;
        }
    return sum;
  }

  void run(const EpilogueParameters& finish, const EpilogueOperands& operands, bool with_bias = true) {
    const ChannelWindow& v = conv.window;
    EpilogueOperands those = operands;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t from = r * v.out_columns * v.out_pixel;
      if (operands.addend != nullptr) those.addend = operands.addend + from;
      image_conv_row(conv, x.data(), packed.data(), with_bias ? bias.data() : nullptr, r, finish, those,
                     scratch.data(), y.data() + from);
    }
  }
  int64_t channel_of(int64_t place) const {
    const ChannelWindow& v = conv.window;
    return v.fills_blocks ? place / v.out_block * kChannelBlock + place % kChannelBlock : place % v.channels;
  }

  void check(const EpilogueParameters& finish, double (*function)(double), bool with_bias) {
    const ChannelWindow& v = conv.window;
    run(finish, {}, with_bias);
    const int64_t stored = v.fills_blocks ? v.blocks() * kChannelBlock : v.channels;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < v.out_columns; ++c)
        for (int64_t channel = 0; channel < stored; ++channel) {
          const float got =
              y[static_cast<size_t>(channel / kChannelBlock * v.out_block + channel % kChannelBlock +
                                    (r * v.out_columns + c) * v.out_pixel)];
          if (channel >= v.channels) {
            ASSERT_EQ(got, 0) << "fills up the last block";
            continue;
          }
          const double wanted = function(expected(r, c, channel, with_bias));
          if (std::isnan(wanted) || std::isinf(wanted)) {
            ASSERT_EQ(std::isnan(got), std::isnan(wanted));
            ASSERT_TRUE(std::isnan(got) || got == wanted);
          } else {
            ASSERT_NEAR(got, wanted, 2e-7 * static_cast<double>(conv.taps() + 1))
                << conv.planes << " planes of " << v.in_rows << "x" << v.in_columns << " to " << v.channels
                << ": " << r << ", " << c << ", " << channel;
          }
        }
    for (size_t i = y.size() - 5; i < y.size(); ++i) ASSERT_EQ(y[i], 77) << "what follows was touched";
  }
};

/// Kernels, strides, dilations, and paddings that are not alike; windows that see nothing but padding.
std::vector<Case> cases(int64_t planes, int64_t channels, bool blocked) {
  std::vector<Case> all;
  for (const int64_t columns : {1, 9, 33})
    for (const auto& [kernel_rows, kernel_columns] : {std::pair{3, 3}, {7, 7}, {2, 4}, {1, 1}})
      for (const int64_t stride : {1, 2, 3})
        for (const int64_t dilation : {1, 2}) {
          const ChannelWindow c{.kernel_rows = kernel_rows,
                                .kernel_columns = kernel_columns,
                                .row_stride = stride,
                                .column_stride = stride,
                                .row_dilation = dilation,
                                .column_dilation = dilation,
                                .top = (kernel_rows - 1) * dilation,
                                .left = (kernel_columns - 1) * dilation + (columns == 9 ? 2 : 0),
                                .in_rows = 6,
                                .in_columns = columns,
                                .channels = channels};
          all.emplace_back(c, planes, 7, columns == 1 ? 5 : 1, blocked);
        }
  return all;
}

TEST(ImageConv, IsTheConvolution) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (const int64_t channels : {1, 16, 24, 45, 64})
        for (Case& c : cases(channels == 16 ? 4 : 3, channels, blocked))
          c.check(kAsItIs, same, channels % 2 == 0);
  });
}

TEST(ImageConv, FunctionsFollow) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (Case& c : cases(1, 27, blocked)) {
        c.check(
            {0.25F, 0.5F}, [](double x) { return std::clamp(x, 0.25, 0.5); }, true);
        c.check(
            {0, 0, PointwiseOp::kSigmoid}, [](double x) { return 1 / (1 + std::exp(-x)); }, true);
      }
  });
}

TEST(ImageConv, OperandsFollow) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (Case& c : cases(1, 27, blocked)) {
        check_operands(c, c.conv.window.out_pixel, c.conv.window.channels, {0, kInfinity},
                       [](double x) { return std::max(x, 0.0); });
        check_operands(c, c.conv.window.out_pixel, c.conv.window.channels, {0, 0, PointwiseOp::kSilu},
                       [](double x) { return x / (1 + std::exp(-x)); });
      }
  });
}

TEST(ImageConv, InfinitiesAndNanStayInTheirWindows) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (Case& c : cases(2, 24, blocked)) {
        c.x.front() = INFINITY;
        c.x[c.x.size() / 2] = NAN;
        c.check(kAsItIs, same, true);
      }
  });
}

}  // namespace
}  // namespace assay::kernels::image_conv_test
