// ChannelWindow convolutions at the sizes of MobileNets and EfficientNets, on one thread: channels last and
// blocked.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/channel_window/depthwise.h"

namespace assay::kernels {
namespace {

void BM_Depthwise(benchmark::State& state) {
  const int64_t extent = state.range(0), channels = state.range(1), kernel = state.range(2),
                stride = state.range(3);
  const bool blocked = state.range(4) != 0;
  ChannelWindow c{.kernel_rows = kernel,
                  .kernel_columns = kernel,
                  .row_stride = stride,
                  .column_stride = stride,
                  .top = kernel / 2,
                  .left = kernel / 2,
                  .in_rows = extent,
                  .in_columns = extent,
                  .out_columns = (extent - 1) / stride + 1,
                  .channels = channels,
                  .fills_blocks = blocked};
  const int64_t rows = c.out_columns;
  c.pixel = c.out_pixel = blocked ? kChannelBlock : channels;
  c.row = extent * c.pixel;
  c.block = blocked ? extent * c.row : kChannelBlock;
  c.out_block = blocked ? rows * c.out_columns * kChannelBlock : kChannelBlock;
  const auto numbers = [](int64_t count) { return std::vector<float>(static_cast<size_t>(count), 0.5F); };
  const auto x = numbers(c.blocks() * kChannelBlock * extent * extent), w = numbers(c.packed_floats()),
             bias = numbers(c.bias_floats());
  auto y = numbers(c.blocks() * kChannelBlock * rows * c.out_columns);
  const int64_t group = blocked ? 1 : 8;
  const auto row_of = [&](int64_t r, int64_t b) {
    depthwise_rows(c, x.data(), w.data(), bias.data(), r, std::min(kDepthwiseRows, rows - r), b,
                   std::min(group, c.blocks() - b), {0, 6}, {}, y.data() + r * c.out_columns * c.out_pixel);
  };
  for (auto _ : state) {
    if (blocked)
      for (int64_t b = 0; b < c.blocks(); ++b)
        for (int64_t r = 0; r < rows; r += kDepthwiseRows) row_of(r, b);
    else
      for (int64_t r = 0; r < rows; r += kDepthwiseRows)
        for (int64_t b = 0; b < c.blocks(); b += group) row_of(r, b);
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(rows * c.out_columns * channels * c.taps()),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Depthwise)
    ->ArgNames({"extent", "channels", "kernel", "stride", "blocked"})
    ->ArgsProduct({{112}, {32}, {3}, {1}, {0, 1}})
    ->ArgsProduct({{112}, {96}, {3}, {2}, {0, 1}})
    ->ArgsProduct({{56}, {144}, {3}, {1}, {0, 1}})
    ->ArgsProduct({{56}, {72}, {5}, {2}, {0, 1}})
    ->ArgsProduct({{24}, {960}, {3}, {1}, {0, 1}})
    ->ArgsProduct({{14}, {384}, {3}, {1}, {0, 1}})
    ->ArgsProduct({{14}, {672}, {5}, {1}, {0, 1}})
    ->ArgsProduct({{7}, {960}, {5}, {1}, {0, 1}})
    ->ArgsProduct({{32}, {768, 784}, {7}, {1}, {0, 1}})
    ->ArgsProduct({{56}, {96, 112}, {7}, {1}, {0, 1}})
    ->ArgsProduct({{14}, {384, 400}, {7}, {1}, {0, 1}})
    ->ArgsProduct({{28}, {728, 736}, {3}, {1}, {0, 1}});

}  // namespace
}  // namespace assay::kernels
