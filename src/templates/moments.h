// Mean and variance of activations, channel by channel, carried through a convolutional network while it is
// built, so that batch normalisation gets the running statistics which inference would have gathered.
//
// The model is the usual mean-field one: values of a channel are normal and independent over positions and
// channels. Random weights make the cross terms that it leaves out vanish on average. Arithmetic is arranged
// so that no result depends on whether the compiler fuses a multiplication with an addition: summed products
// have float factors, whose product is exact in double.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/tensor.h"

namespace assay {

/// One entry per channel; empty in a network that is built without weights.
struct ChannelMoments {
  std::vector<float> mean, variance;

  bool empty() const { return mean.empty(); }
  static ChannelMoments uniform_unit(int64_t channels);  ///< of inputs uniform in [0, 1)
};

/// How a kernel of given extents lies on a map.
struct Window {
  int64_t kernel = 1, stride = 1, pad = 0;

  int64_t output_extent(int64_t extent) const { return (extent + 2 * pad - kernel) / stride + 1; }
  /// For each tap, the share of output positions where it meets the map and not the padding.
  std::vector<float> tap_shares(int64_t extent) const;
};

/// Of a convolution with weights [M, C/groups, k, k] on a map of height x width. `bias` may be undefined.
ChannelMoments conv_moments(const ChannelMoments& x, const Tensor& weights, const Tensor& bias,
                            const Window& window, int64_t groups, int64_t height, int64_t width);
/// Of a transposed convolution with weights [C, M, k, k] whose stride is k.
ChannelMoments conv_transpose_moments(const ChannelMoments& x, const Tensor& weights, const Tensor& bias);
/// Of f(x).
ChannelMoments activation_moments(const ChannelMoments& x, double (*f)(double));
/// Of f(the largest of n values); f must not decrease.
ChannelMoments max_moments(const ChannelMoments& x, int n, double (*f)(double));
ChannelMoments sum_moments(const ChannelMoments& a, const ChannelMoments& b);
ChannelMoments concat_moments(const std::vector<const ChannelMoments*>& parts);

double identity(double x);
double relu(double x);
double relu6(double x);
/// 1 / (1 + exp(-x)) to about 1e-4, by multiplications alone.
double logistic_function(double x);
double silu(double x);

}  // namespace assay
