// Products of rows with packed panels at the sizes of ResNet-50's convolutions: positions, channels, inputs
// times taps; and how the panels are stored.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/panel/panel_product.h"

namespace assay::kernels {
namespace {

/// By the number among a benchmark's arguments.
constexpr DType kStoredTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

void BM_PanelProduct(benchmark::State& state) {
  const int64_t rows = state.range(0), n = state.range(1), k = state.range(2);
  const PanelMatrix m{n, k, kStoredTypes[state.range(3)]};
  const std::vector<float> source(static_cast<size_t>(n * k), 3), a(static_cast<size_t>(rows * k), 2);
  std::vector<char> packed(static_cast<size_t>(m.bytes()));
  pack_panels(m, source.data(), n, 1, packed.data());
  std::vector<float> sums(static_cast<size_t>(rows * m.panels() * kPanelColumns));
  for (auto _ : state)
    panel_product(m, packed.data(), 0, m.panels(), {a.data(), k}, rows, nullptr, sums.data(),
                  m.panels() * kPanelColumns);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(rows * n * k),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_PanelProduct)
    ->ArgNames({"rows", "n", "k", "type"})
    ->ArgsProduct({{48}, {64}, {576}, {0, 1, 2}})
    ->ArgsProduct({{48}, {256}, {64}, {0, 1, 2}})
    ->ArgsProduct({{48}, {256}, {2304}, {0, 1, 2}})
    ->ArgsProduct({{49}, {512}, {4608}, {0, 1, 2}})
    ->ArgsProduct({{49}, {192}, {1152}, {0}})
    ->ArgsProduct({{192}, {64}, {112}, {0}})
    ->ArgsProduct({{128}, {64}, {768}, {0}})
    ->ArgsProduct({{256}, {64}, {3072}, {0}})
    ->ArgsProduct({{8}, {1000}, {2048}, {0, 1, 2}});

}  // namespace
}  // namespace assay::kernels
