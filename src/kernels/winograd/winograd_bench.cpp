// The parts of a Winograd convolution at the sizes of ResNets: channels, tiles of a block.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/panel/panel_product.h"
#include "kernels/winograd/winograd.h"

namespace assay::kernels {
namespace {

void BM_Winograd(benchmark::State& state) {
  const int64_t c = state.range(0), extent = state.range(1), m = state.range(2), block = state.range(3);
  const WinogradSize s{.batch = 1,
                       .in_height = extent,
                       .in_width = extent,
                       .in_channels = c,
                       .out_height = extent,
                       .out_width = extent,
                       .out_channels = c,
                       .pad_top = 1,
                       .pad_left = 1,
                       .m = m};
  const PanelMatrix matrix{c, c, DType::kFloat32};
  const int64_t row = c + 16, left = block * row + 16,
                sum = block * 64 + 16;  // no sets of a cache are shared
  std::vector<float> weights(static_cast<size_t>(s.points() * matrix.bytes() / 4), 0.5F),
      x(static_cast<size_t>(extent * extent * c), 1), y(x.size() + static_cast<size_t>(16 * c)),
      a(static_cast<size_t>(s.points() * left)), sums(static_cast<size_t>(s.points() * sum));
  std::vector<uint8_t> special(static_cast<size_t>(block));
  for (auto _ : state)
    for (int64_t first = 0; first < s.tiles(); first += block) {
      const int64_t count = std::min(block, s.tiles() - first);
      transform_winograd_inputs(s, x.data(), first, count, {0, c}, {a.data(), row, left}, special.data());
      for (int64_t column = 0; column < c; column += 64) {
        const int64_t columns = std::min<int64_t>(64, c - column);
        for (int64_t p = 0; p < s.points(); ++p)
          panel_product_in_parts(matrix, weights.data() + p * matrix.bytes() / 4, column / 16, columns / 16,
                                 a.data() + p * left, row, count, sums.data() + p * sum, columns);
        for (int64_t t = 0; t < count; ++t)
          transform_winograd_outputs(m, sums.data() + t * columns, sum, columns, nullptr, y.data(),
                                     m * columns, columns);
      }
    }
  state.counters["GFLOP/s of the direct form"] = benchmark::Counter(
      18e-9 * static_cast<double>(extent * extent * c * c), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Winograd)
    ->ArgNames({"channels", "extent", "m", "block"})
    ->ArgsProduct({{64}, {56}, {2, 4}, {12, 24, 48}})
    ->ArgsProduct({{128}, {28}, {2, 4}, {12, 24, 48}})
    ->ArgsProduct({{256}, {14}, {2, 4}, {12, 24, 48}})
    ->ArgsProduct({{512}, {7}, {2, 4}, {12, 24}});

}  // namespace
}  // namespace assay::kernels
