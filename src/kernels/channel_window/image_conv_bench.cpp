// Convolutions of images of three channels at the sizes of first layers, on one thread: channels last and
// blocked, and with a function behind them.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/channel_window/image_conv.h"

namespace assay::kernels {
namespace {

void BM_ImageConv(benchmark::State& state) {
  const int64_t extent = state.range(0), channels = state.range(1), kernel = state.range(2),
                stride = state.range(3);
  const bool blocked = state.range(4) != 0;
  const EpilogueParameters finish =
      state.range(5) != 0 ? EpilogueParameters{0, 0, PointwiseOp::kSilu} : EpilogueParameters{0, 6};
  ImageConv conv{.window = {.kernel_rows = kernel,
                            .kernel_columns = kernel,
                            .row_stride = stride,
                            .column_stride = stride,
                            .top = kernel / 2,
                            .left = kernel / 2,
                            .in_rows = extent,
                            .in_columns = extent,
                            .out_columns = (extent - 1) / stride + 1,
                            .channels = channels,
                            .pixel = 1,
                            .row = extent,
                            .block = extent * extent,
                            .fills_blocks = blocked},
                 .planes = 3};
  ChannelWindow& c = conv.window;
  const int64_t rows = c.out_columns;
  c.out_pixel = blocked ? kChannelBlock : channels;
  c.out_block = blocked ? rows * c.out_columns * kChannelBlock : kChannelBlock;
  const auto numbers = [](int64_t count) { return std::vector<float>(static_cast<size_t>(count), 0.5F); };
  const auto x = numbers(3 * extent * extent), w = numbers(conv.packed_floats()),
             bias = numbers(c.bias_floats());
  auto y = numbers(c.blocks() * kChannelBlock * rows * c.out_columns),
       scratch = numbers(conv.scratch_floats());
  for (auto _ : state)
    for (int64_t r = 0; r < rows; ++r)
      image_conv_row(conv, x.data(), w.data(), bias.data(), r, finish, {}, scratch.data(),
                     y.data() + r * c.out_columns * c.out_pixel);
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(rows * c.out_columns * channels * conv.taps()),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_ImageConv)
    ->ArgNames({"extent", "channels", "kernel", "stride", "blocked", "silu"})
    ->ArgsProduct({{224}, {16, 24, 32, 64}, {3}, {2}, {0, 1}, {0, 1}})
    ->ArgsProduct({{224}, {64}, {7}, {2}, {0, 1}, {0}})
    ->ArgsProduct({{640}, {16}, {3}, {2}, {0}, {0, 1}})
    ->ArgsProduct({{224}, {64}, {3}, {1}, {0}, {0}});

}  // namespace
}  // namespace assay::kernels
