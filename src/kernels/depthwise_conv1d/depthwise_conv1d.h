// Convolution of signals, each channel by a filter of its own, along rows of memory.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// `rows` signals of `in` samples, one after the other; signal r has the filter r % channels. Sample o of a
/// result is the sum over t < taps of weight t times sample o + t * dilation - begin; samples outside [0, in)
/// are 0.
struct DepthwiseConv1d {
  int64_t rows = 0, channels = 0;
  int64_t in = 0, out = 0;
  int64_t taps = 0, dilation = 1, begin = 0;

  int64_t reach() const { return (taps - 1) * dilation; }
};

/// The most that a filter may reach: a tile of a signal with it is on the stack.
inline constexpr int64_t kMaxDepthwiseReach = 1024;

/// y[r, o] = bias[c] + ..., summed in the order of taps; `weights` has `taps` numbers a channel, `bias` one,
/// or is null. reach() is at most kMaxDepthwiseReach. Parallel.
void depthwise_conv1d(const DepthwiseConv1d& conv, const float* x, const float* weights, const float* bias,
                      float* y) noexcept;

}  // namespace assay::kernels
