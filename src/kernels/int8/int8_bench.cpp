// Integer products at the sizes of ResNet-50's convolutions: positions, channels, inputs times taps.
#include <benchmark/benchmark.h>

#include <limits>
#include <vector>

#include "kernels/int8/int8_product.h"
#include "kernels/int8/requantize.h"

namespace assay::kernels {
namespace {

void BM_Int8Product(benchmark::State& state) {
  const int64_t rows = state.range(0), n = state.range(1), k = state.range(2);
  const Int8Weights w{n, k};
  const std::vector<int16_t> source(static_cast<size_t>(n * k), 3);
  const std::vector<uint8_t> a(static_cast<size_t>(rows * int8_row_length(k)), 2);
  std::vector<char> packed(static_cast<size_t>(w.bytes()));
  pack_int8_weights(w, source.data(), n, 1, packed.data());
  std::vector<int32_t> sums(static_cast<size_t>(rows * w.panels() * kInt8Columns));
  for (auto _ : state)
    int8_product(w, packed.data(), 0, w.panels(), {a.data(), int8_row_length(k), 7}, rows, sums.data(),
                 w.panels() * kInt8Columns);
  state.counters["GOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(rows * n * k),
                                               benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Int8Product)
    ->ArgNames({"rows", "n", "k"})
    ->Args({48, 64, 147})
    ->Args({48, 64, 576})
    ->Args({48, 256, 64})
    ->Args({48, 128, 1152})
    ->Args({24, 256, 2304})
    ->Args({48, 1024, 256})
    ->Args({12, 512, 4608})
    ->Args({192, 256, 1152})
    ->Args({192, 64, 576})
    ->Args({192, 256, 64})
    ->Args({1, 1000, 2048});

void BM_Requantize(benchmark::State& state) {
  const int64_t rows = 48, n = state.range(0);
  std::vector<int32_t> sums(static_cast<size_t>(rows * n));
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<int32_t>(i * 2654435761U >> 16) - 32768;
  const std::vector<float> scale(static_cast<size_t>(n), 0.0013F), bias(static_cast<size_t>(n), 1.7F);
  std::vector<uint8_t> q(sums.size());
  const Requantization r{0, std::numeric_limits<float>::infinity(), 0.11F, 0, false};
  for (auto _ : state) requantize({sums.data(), n, rows, n}, {scale.data(), bias.data(), r, q.data(), n});
  state.counters["elements/s"] =
      benchmark::Counter(static_cast<double>(rows * n), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Requantize)->ArgName("n")->Arg(24)->Arg(64)->Arg(256);

}  // namespace
}  // namespace assay::kernels
