#include "kernels/channel_window/depthwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/channel_window/epilogue_check.h"
#include "kernels/convert/convert.h"
#include "kernels/every_target.h"

namespace assay::kernels::depthwise_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Rows [0, rows) of a window over one image, which nothing surrounds in memory.
struct Case {
  ChannelWindow conv;
  int64_t rows;
  bool is_blocked;
  std::vector<float> x, w, bias, packed, y;

  Case(ChannelWindow c, int64_t bottom, int64_t right, bool blocked) : conv(c), is_blocked(blocked) {
    const auto out = [](int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
      return (in + pads - (kernel - 1) * dilation - 1) / stride + 1;
    };
    rows = out(c.in_rows, c.top + bottom, c.kernel_rows, c.row_dilation, c.row_stride);
    conv.out_columns =
        out(c.in_columns, c.left + right, c.kernel_columns, c.column_dilation, c.column_stride);
    conv.pixel = conv.out_pixel = blocked ? kChannelBlock : c.channels;
    conv.row = c.in_columns * conv.pixel;
    conv.block = blocked ? c.in_rows * conv.row : kChannelBlock;
    conv.out_block = blocked ? rows * conv.out_columns * kChannelBlock : kChannelBlock;
    conv.fills_blocks = blocked;
    const int64_t stored = blocked ? conv.blocks() * kChannelBlock : c.channels;
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    x.resize(static_cast<size_t>(stored * c.in_rows * c.in_columns));
    w.resize(static_cast<size_t>(c.channels * c.taps()));
    bias.resize(static_cast<size_t>(conv.bias_floats()));
    for (auto* v : {&x, &w, &bias})
      for (float& f : *v) f = uniform(random);
    std::fill(bias.begin() + c.channels, bias.end(), 0.0F);
    packed.assign(static_cast<size_t>(conv.packed_floats()), NAN);
    pack_channel_blocks(c.channels, c.taps(), w.data(), packed.data());
    y.assign(static_cast<size_t>(stored * rows * conv.out_columns + 5), 77);
  }

  size_t place(const ChannelWindow& c, int64_t row, int64_t column, int64_t columns, int64_t block,
               int64_t pixel, int64_t channel) const {
    return static_cast<size_t>(channel / kChannelBlock * block + channel % kChannelBlock +
                               (row * columns + column) * pixel) +
           0 * static_cast<size_t>(c.channels);
  }
  double expected(int64_t row, int64_t column, int64_t channel, bool with_bias) const {
    double sum = with_bias ? bias[static_cast<size_t>(channel)] : 0;
    for (int64_t k = 0; k < conv.kernel_rows; ++k)
      for (int64_t j = 0; j < conv.kernel_columns; ++j) {
        const int64_t r = row * conv.row_stride - conv.top + k * conv.row_dilation,
                      c = column * conv.column_stride - conv.left + j * conv.column_dilation;
        if (r < 0 || r >= conv.in_rows || c < 0 || c >= conv.in_columns) continue;
        sum += double{x[place(conv, r, c, conv.in_columns, conv.block, conv.pixel, channel)]} *
               w[static_cast<size_t>(channel * conv.taps() + k * conv.kernel_columns + j)];
      }
    return sum;
  }
  void run(const EpilogueParameters& finish, const EpilogueOperands& operands, bool with_bias, int64_t group,
           int64_t rows_together = kDepthwiseRows) {
    EpilogueOperands those = operands;
    for (int64_t r = 0; r < rows; r += rows_together) {
      const int64_t from = r * conv.out_columns * conv.out_pixel;
      if (operands.addend != nullptr) those.addend = operands.addend + from;
      for (int64_t b = 0; b < conv.blocks(); b += group)
        depthwise_rows(conv, x.data(), packed.data(), with_bias ? bias.data() : nullptr, r,
                       std::min(rows_together, rows - r), b, std::min(group, conv.blocks() - b), finish,
                       those, y.data() + from);
    }
  }
  void run(const EpilogueParameters& finish, const EpilogueOperands& operands) {
    run(finish, operands, true, 2);
  }
  int64_t channel_of(int64_t place) const {
    return is_blocked ? place / conv.out_block * kChannelBlock + place % kChannelBlock
                      : place % conv.channels;
  }

  void check(const EpilogueParameters& finish, double (*function)(double), bool with_bias, int64_t group,
             int64_t rows_together = kDepthwiseRows) {
    run(finish, {}, with_bias, group, rows_together);
    const int64_t stored = is_blocked ? conv.blocks() * kChannelBlock : conv.channels;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < conv.out_columns; ++c)
        for (int64_t channel = 0; channel < stored; ++channel) {
          const float got = y[place(conv, r, c, conv.out_columns, conv.out_block, conv.out_pixel, channel)];
          if (channel >= conv.channels) {
            ASSERT_EQ(got, 0) << "fills up the last block";
            continue;
          }
          const double wanted = function(expected(r, c, channel, with_bias));
          if (std::isnan(wanted) || std::isinf(wanted)) {
            ASSERT_EQ(std::isnan(got), std::isnan(wanted));
            ASSERT_TRUE(std::isnan(got) || got == wanted);
          } else {
            ASSERT_NEAR(got, wanted, 4e-7 * static_cast<double>(conv.taps() + 1))
                << conv.kernel_rows << "x" << conv.kernel_columns << " of " << conv.in_rows << "x"
                << conv.in_columns << "x" << conv.channels << ": " << r << ", " << c << ", " << channel;
          }
        }
    for (size_t i = y.size() - 5; i < y.size(); ++i) ASSERT_EQ(y[i], 77) << "what follows was touched";
  }
};

double same(double x) { return x; }
constexpr EpilogueParameters kAsItIs{-kInfinity, kInfinity};

/// Kernels of common and other forms, strides, dilations, and paddings that are not alike.
std::vector<Case> cases(int64_t channels, bool blocked) {
  std::vector<Case> all;
  for (const int64_t rows : {1, 7, 10})
    for (const int64_t columns : {1, 6, 7, 14, 25})
      for (const auto& [kernel_rows, kernel_columns] :
           {std::pair{3, 3}, {5, 5}, {7, 7}, {2, 4}, {1, 3}, {5, 1}})
        for (const int64_t stride : {1, 2, 3})
          for (const int64_t dilation : {1, 2}) {
            const int64_t reach_rows = (kernel_rows - 1) * dilation + 1,
                          reach_columns = (kernel_columns - 1) * dilation + 1;
            ChannelWindow c{.kernel_rows = kernel_rows,
                            .kernel_columns = kernel_columns,
                            .row_stride = stride,
                            .column_stride = stride,
                            .row_dilation = dilation,
                            .column_dilation = dilation,
                            .top = reach_rows / 2,
                            .left = reach_columns / 2,
                            .in_rows = rows,
                            .in_columns = columns,
                            .channels = channels};
            all.emplace_back(c, (reach_rows - 1) / 2, (reach_columns - 1) / 2, blocked);
            if (reach_rows > rows || reach_columns > columns) continue;
            c.top = 0, c.left = reach_columns - 1;
            all.emplace_back(c, 0, 0, blocked);
          }
  return all;
}

TEST(Depthwise, IsTheConvolutionOfEveryChannel) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (const int64_t channels : {1, 16, 24, 45})
        for (const int64_t rows_together : {1, 2, 5})
          for (Case& c : cases(channels, blocked))
            c.check(kAsItIs, same, channels % 2 == 0, 2, rows_together);
  });
}

/// Windows of which some see nothing but padding.
TEST(Depthwise, WindowsInThePaddingGiveTheBias) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const int64_t kernel : {3, 4})
      Case({.kernel_rows = kernel,
            .kernel_columns = kernel,
            .top = 5,
            .left = 6,
            .in_rows = 2,
            .in_columns = 3,
            .channels = 20},
           7, 8, false)
          .check(kAsItIs, same, true, 4);
  });
}

TEST(Depthwise, FunctionsFollow) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (Case& c : cases(27, blocked)) {
        c.check(
            {0.25F, 0.5F}, [](double x) { return std::clamp(x, 0.25, 0.5); }, true, 1);
        c.check({0, 0, PointwiseOp::kSigmoid}, sigmoid, true, 3);
        if (c.rows != 7) continue;
        c.check(
            {0, 0, PointwiseOp::kSilu}, [](double x) { return x / (1 + std::exp(-x)); }, true, 3);
        c.check(
            {0, 0, PointwiseOp::kHardSwish}, [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); },
            false, 2);
      }
  });
}

TEST(Depthwise, OperandsFollow) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (Case& c : cases(27, blocked)) {
        if (c.rows != 7) continue;
        check_operands(c, c.conv.out_pixel, c.conv.channels, {0, kInfinity},
                       [](double x) { return std::max(x, 0.0); });
        check_operands(c, c.conv.out_pixel, c.conv.channels, {0, 0, PointwiseOp::kSigmoid},
                       [](double x) { return 1 / (1 + std::exp(-x)); });
      }
  });
}

TEST(Depthwise, InfinitiesAndNanStayInTheirChannelsAndWindows) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool blocked : {false, true})
      for (Case& c : cases(24, blocked)) {
        c.x.front() = INFINITY;
        c.x[c.x.size() / 2] = NAN;
        c.check(kAsItIs, same, true, 2);
      }
  });
}

/// To the last bit, with vectors that are not whole.
TEST(Depthwise, ImagesInBfloat16AreReadAsTheyAre) {
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const int64_t channels : {16, 27})
      for (Case& c : cases(channels, false)) {
        std::vector<uint16_t> narrow(c.x.size());
        narrow_row(DType::kBFloat16, c.x.data(), narrow.data(), narrow.size());
        widen_row(DType::kBFloat16, narrow.data(), c.x.data(), narrow.size());
        c.run(kAsItIs, {});
        std::vector<float> y(c.y.size(), 77);
        for (int64_t r = 0; r < c.rows; r += kDepthwiseRows)
          depthwise_rows(c.conv, narrow.data(), c.packed.data(), c.bias.data(), r,
                         std::min(kDepthwiseRows, c.rows - r), 0, c.conv.blocks(), kAsItIs, {},
                         y.data() + r * c.conv.out_columns * c.conv.out_pixel);
        ASSERT_EQ(y, c.y);
      }
  });
}

}  // namespace
}  // namespace assay::kernels::depthwise_test
