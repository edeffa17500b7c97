// Double products at the sizes of the reference: a square one and the im2col products of ResNet-50.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/gemm.h"

namespace assay::kernels {
namespace {

void BM_Gemm(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const std::vector<double> a(static_cast<size_t>(m * k), 1.5), b(static_cast<size_t>(k * n), 0.5);
  std::vector<double> c(static_cast<size_t>(m * n));
  for (auto _ : state) gemm(m, n, k, a.data(), k, b.data(), n, c.data(), n);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(m * n * k),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Gemm)
    ->ArgNames({"m", "n", "k"})
    ->Args({512, 512, 512})
    ->Args({1024, 1024, 1024})
    ->Args({64, 12544, 147})
    ->Args({64, 3136, 576})
    ->Args({256, 3136, 64})
    ->Args({128, 784, 1152})
    ->Args({256, 196, 2304})
    ->Args({1024, 196, 256})
    ->Args({512, 49, 4608})
    ->Args({2048, 49, 512})
    ->Args({1, 1000, 2048})
    ->Args({1000, 1, 2048})
    ->UseRealTime();

}  // namespace
}  // namespace assay::kernels
