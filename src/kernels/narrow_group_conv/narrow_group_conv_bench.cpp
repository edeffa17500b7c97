// Convolutions in groups at the sizes of ResNeXt and RegNet, on one thread: groups, channels of one, pixels
// of a tile's row of tiles.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/narrow_group_conv/narrow_group_conv.h"

namespace assay::kernels {
namespace {

void BM_NarrowGroupConv(benchmark::State& state) {
  const NarrowGroupConv conv{
      .groups = state.range(0), .inputs = state.range(1), .outputs = state.range(1), .taps = 9};
  const int64_t extent = state.range(2), channels = conv.in_channels(), rows = 48;
  std::vector<float> x(static_cast<size_t>((extent + 2) * (extent + 2) * channels), 1),
      w(static_cast<size_t>(conv.packed_floats()), 0.5F), sums(static_cast<size_t>(rows * channels));
  std::vector<const float*> pixels;
  for (int64_t first = 0; first + rows <= extent * extent; first += rows)
    for (int64_t t = 0; t < 9; ++t)
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = first + r, y = at / extent + t / 3, c = at % extent + t % 3;
        pixels.push_back(x.data() + (y * (extent + 2) + c) * channels);
      }
  for (auto _ : state)
    for (int64_t first = 0; first + rows <= extent * extent; first += rows) {
      narrow_group_products(conv, w.data(), pixels.data() + 9 * first, rows, 0, channels, nullptr,
                            sums.data(), channels, {extent, first % extent});
    }
  state.counters["GFLOP/s"] =
      benchmark::Counter(18e-9 * static_cast<double>(extent * extent / rows * rows * channels * conv.inputs),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_NarrowGroupConv)
    ->ArgNames({"groups", "channels", "extent"})
    ->Args({32, 4, 56})
    ->Args({32, 8, 28})
    ->Args({32, 16, 14})
    ->Args({6, 8, 56})
    ->Args({26, 8, 14})
    ->Args({9, 24, 28})
    ->Args({4, 64, 14});

}  // namespace
}  // namespace assay::kernels
