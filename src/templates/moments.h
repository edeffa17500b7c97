// Mean and variance of activations, channel by channel, carried through a convolutional network while it is
// built, so that batch normalization gets the running statistics that inference would have measured.
//
// The model is the usual mean-field one: values of a channel are normal and independent over positions and
// channels. With random weights the neglected cross terms vanish on average. Arithmetic is arranged
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

/// The windows of a kernel on an axis of a map.
struct Window {
  int64_t kernel = 1, stride = 1, pad = 0;
  int64_t dilation = 1;
  bool ceil_mode = false;  ///< a pool's last window may be partly outside

  int64_t output_extent(int64_t extent) const {
    const int64_t room = extent + 2 * pad - dilation * (kernel - 1) - 1;
    return (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  }
  /// For each tap, the share of output positions where it meets the map and not the padding.
  std::vector<float> tap_shares(int64_t extent) const;
};

/// Of a convolution with weights [M, C/groups, k, k] on a map of height x width. `bias` may be undefined.
ChannelMoments conv_moments(const ChannelMoments& x, const Tensor& weights, const Tensor& bias,
                            const Window& window, int64_t groups, int64_t height, int64_t width);
/// With different windows along the height and the width.
ChannelMoments conv_moments(const ChannelMoments& x, const Tensor& weights, const Tensor& bias,
                            const Window& rows, const Window& columns, int64_t groups, int64_t height,
                            int64_t width);
/// Of a transposed convolution with weights [C, M, k, k] whose stride is k.
ChannelMoments conv_transpose_moments(const ChannelMoments& x, const Tensor& weights, const Tensor& bias);
/// Of f(x).
ChannelMoments activation_moments(const ChannelMoments& x, double (*f)(double));
/// Of f(the largest of n values); f must not decrease.
ChannelMoments max_moments(const ChannelMoments& x, int n, double (*f)(double));
/// Of means of n values that are neighbours on a map and vary together: about sqrt(n) of them are
/// independent.
ChannelMoments average_moments(const ChannelMoments& x, double n);
/// Of x times a gate that depends on the channels' means only.
ChannelMoments gated_moments(const ChannelMoments& x, const ChannelMoments& gate);
ChannelMoments sum_moments(const ChannelMoments& a, const ChannelMoments& b);
ChannelMoments concat_moments(const std::vector<const ChannelMoments*>& parts);

double identity(double x);
double relu(double x);
double relu6(double x);
/// 1 / (1 + exp(-x)) to about 1e-4, by multiplications alone.
double logistic_function(double x);
double silu(double x);
double hard_sigmoid(double x);  ///< relu6(x + 3) / 6
double hard_swish(double x);
double leaky_relu(double x);     ///< slope 1/128 below zero, near LeakyRelu's 0.01
double gelu_function(double x);  ///< by its approximation x * logistic_function(1.702 x)
double tanh_function(double x);

}  // namespace assay
