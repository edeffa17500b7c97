#include "kernels/depthwise_conv1d/depthwise_conv1d.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/depthwise_conv1d/depthwise_conv1d.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

#ifndef ASSAY_KERNELS_SIGNAL_CONV_TILE_
#define ASSAY_KERNELS_SIGNAL_CONV_TILE_
namespace assay::kernels {

/// Samples of a result that are made together.
inline constexpr int64_t kSignalTile = 1024;

}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// V vectors of results; what they read begins at x.
template <int64_t V>
HWY_INLINE void filter(const DepthwiseConv1d& c, const float* x, const float* weights, float bias,
                       VF (&sums)[V]) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  ASSAY_UNROLL
  for (int64_t v = 0; v < V; ++v) sums[v] = constant(bias);
  for (int64_t t = 0; t < c.taps; ++t, x += c.dilation) {
    const VF weight = constant(weights[t]);
    ASSAY_UNROLL
    for (int64_t v = 0; v < V; ++v) sums[v] = hn::MulAdd(weight, hn::LoadU(F(), x + v * lanes), sums[v]);
  }
}

/// `count` samples; what they read, and a vector more, lies at x.
void filter_tile(const DepthwiseConv1d& c, const float* x, const float* weights, float bias, float* y,
                 int64_t count) {
  constexpr int64_t kVectors = 4;
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  int64_t o = 0;
  for (; o + kVectors * lanes <= count; o += kVectors * lanes) {
    VF sums[kVectors];
    filter<kVectors>(c, x + o, weights, bias, sums);
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], F(), y + o + v * lanes);
  }
  for (; o < count; o += lanes) {
    VF sums[1];
    filter<1>(c, x + o, weights, bias, sums);
    if (o + lanes <= count)
      hn::StoreU(sums[0], F(), y + o);
    else
      store_first(sums[0], y + o, static_cast<size_t>(count - o));
  }
}

/// Signals [first, last).
void filter_signals(const DepthwiseConv1d& c, const float* x, const float* weights, const float* bias,
                    float* y, int64_t first, int64_t last) {
  constexpr int64_t kMax = kSignalTile + kMaxDepthwiseReach + static_cast<int64_t>(hn::MaxLanes(F()));
  HWY_ALIGN float tile[kMax];
  for (int64_t r = first; r < last; ++r) {
    const float* const signal = x + r * c.in;
    const int64_t channel = r % c.channels;
    for (int64_t o = 0; o < c.out; o += kSignalTile) {
      // Samples [from, from + wanted), zeros around the signal, and a vector of zeros behind them.
      const int64_t count = std::min(kSignalTile, c.out - o), from = o - c.begin;
      const int64_t wanted = count + c.reach(), room = wanted + static_cast<int64_t>(hn::Lanes(F()));
      const int64_t begin = std::clamp<int64_t>(-from, 0, wanted);
      const int64_t end = std::clamp<int64_t>(c.in - from, begin, wanted);
      std::fill(tile, tile + begin, 0.0F);
      std::copy(signal + from + begin, signal + from + end, tile + begin);
      std::fill(tile + end, tile + room, 0.0F);
      filter_tile(c, tile, weights + channel * c.taps, bias == nullptr ? 0.0F : bias[channel],
                  y + r * c.out + o, count);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(filter_signals);

void depthwise_conv1d(const DepthwiseConv1d& conv, const float* x, const float* weights, const float* bias,
                      float* y) noexcept {
  /// Products that a thread should handle at least.
  constexpr int64_t kGrain = 1 << 16;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, conv.out * conv.taps));
  parallel_for(conv.rows, grain, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(filter_signals)(conv, x, weights, bias, y, first, last);
  });
}

}  // namespace assay::kernels
#endif
