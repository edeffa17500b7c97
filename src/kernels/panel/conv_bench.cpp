// The convolutions of the reference: ResNet-50's, and a depthwise one.
#include "kernels/conv.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace assay::kernels {
namespace {

struct Layer {
  int64_t in_channels, out_channels, extent, kernel, stride, groups, count;
};

/// ResNet-50 at 224 x 224: each kind of convolution and how often it occurs.
constexpr Layer kResNet50[] = {
    {3, 64, 224, 7, 2, 1, 1},    {64, 64, 56, 1, 1, 1, 1},    {64, 64, 56, 3, 1, 1, 3},
    {64, 256, 56, 1, 1, 1, 4},   {256, 64, 56, 1, 1, 1, 2},   {256, 128, 56, 1, 1, 1, 1},
    {128, 128, 56, 3, 2, 1, 1},  {128, 512, 28, 1, 1, 1, 4},  {256, 512, 56, 1, 2, 1, 1},
    {512, 128, 28, 1, 1, 1, 3},  {128, 128, 28, 3, 1, 1, 3},  {512, 256, 28, 1, 1, 1, 1},
    {256, 256, 28, 3, 2, 1, 1},  {256, 1024, 14, 1, 1, 1, 6}, {512, 1024, 28, 1, 2, 1, 1},
    {1024, 256, 14, 1, 1, 1, 5}, {256, 256, 14, 3, 1, 1, 5},  {1024, 512, 14, 1, 1, 1, 1},
    {512, 512, 14, 3, 2, 1, 1},  {512, 2048, 7, 1, 1, 1, 3},  {1024, 2048, 14, 1, 2, 1, 1},
    {2048, 512, 7, 1, 1, 1, 2},  {512, 512, 7, 3, 1, 1, 2},
};
constexpr Layer kDepthwise = {144, 144, 56, 3, 1, 144, 1};

class Problem {
 public:
  explicit Problem(const Layer& layer)
      : size_{1, layer.groups, layer.in_channels, layer.out_channels},
        x_(static_cast<size_t>(layer.in_channels * layer.extent * layer.extent), 0.5) {
    const int64_t pad = (layer.kernel - 1) / 2, out = (layer.extent - 1) / layer.stride + 1;
    window_ = {.in = {layer.extent, layer.extent},
               .out = {out, out},
               .kernel = {layer.kernel, layer.kernel},
               .strides = {layer.stride, layer.stride},
               .dilations = {1, 1},
               .begin = {pad, pad},
               .end = {pad, pad}};
    const int64_t weights = layer.out_channels * layer.in_channels / layer.groups * window_.taps();
    w_.assign(static_cast<size_t>(weights), 0.25);
    y_.resize(static_cast<size_t>(layer.out_channels * out * out));
    products_ = static_cast<double>(weights * out * out);
  }
  void run() { convolve(size_, window_, x_.data(), w_.data(), nullptr, y_.data()); }
  double products() const { return products_; }

 private:
  ConvSize size_;
  Window window_;
  std::vector<double> x_, w_, y_;
  double products_ = 0;
};

void report(benchmark::State& state, double products) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * products, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_Layer(benchmark::State& state, const Layer& layer) {
  Problem problem(layer);
  for (auto _ : state) problem.run();
  report(state, problem.products());
}

void BM_ResNet50(benchmark::State& state) {
  std::vector<Problem> problems;
  double products = 0;
  for (const Layer& layer : kResNet50) {
    problems.emplace_back(layer);
    products += problems.back().products() * static_cast<double>(layer.count);
  }
  for (auto _ : state)
    for (size_t i = 0; i < problems.size(); ++i)
      for (int64_t n = 0; n < kResNet50[i].count; ++n) problems[i].run();
  report(state, products);
}

BENCHMARK(BM_ResNet50)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Layer, first_7x7, kResNet50[0])->UseRealTime();
BENCHMARK_CAPTURE(BM_Layer, c64_56_3x3, kResNet50[2])->UseRealTime();
BENCHMARK_CAPTURE(BM_Layer, c64_256_56_1x1, kResNet50[3])->UseRealTime();
BENCHMARK_CAPTURE(BM_Layer, c256_14_3x3, kResNet50[16])->UseRealTime();
BENCHMARK_CAPTURE(BM_Layer, c512_7_3x3, kResNet50[22])->UseRealTime();
BENCHMARK_CAPTURE(BM_Layer, depthwise_3x3, kDepthwise)->UseRealTime();

}  // namespace
}  // namespace assay::kernels
