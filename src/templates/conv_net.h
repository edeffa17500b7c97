// The layers that convolutional networks share. Each adds its nodes and says what the result looks like:
// extents, and the statistics that the next batch normalisation needs.
#pragma once

#include <string_view>
#include <vector>

#include "templates/builder.h"
#include "templates/moments.h"

namespace assay {

/// A map [batch, channels, height, width] on its way through the network.
struct Feature {
  Value* value = nullptr;
  int64_t channels = 0, height = 0, width = 0;
  ChannelMoments moments;
  /// What the last activation function was applied to, for a pooling layer that follows it.
  ChannelMoments before_activation;
  double (*activation)(double) = identity;
};

struct ConvSpec {
  int64_t outputs = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t pad = 0;
  int64_t groups = 1;
  bool bias = false;

  Window window() const { return {kernel, stride, pad}; }
};

/// The means from which a batch normalisation's scales and shifts are drawn.
struct NormSpec {
  double scale, shift;
};
/// Before an activation function. The positive shift makes an error in the predicted statistics fade from
/// layer to layer; without one ReLU carries it on as it is, and SiLU enlarges it.
inline constexpr NormSpec kActivatedNorm = {1.0, 0.5};
/// At the end of a block without activation function.
inline constexpr NormSpec kLinearNorm = {1.0, 0.0};
/// At the end of a branch that is added to a residual stream, whose variance would otherwise grow by one with
/// every block. Trained networks have small scales there too.
inline constexpr NormSpec kResidualNorm = {0.5, 0.0};

/// A model input of pixels in [0, 1).
Feature image_input(TemplateBuilder& b, std::string name, int64_t channels, int64_t height, int64_t width);

/// Weights are He-normal over the fan-in, biases a small normal.
Feature conv(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec);
/// conv() whose weights are drawn from `init`.
Feature conv(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec, const Init& init,
             const Init& bias);
/// Doubles the extents: kernel 2, stride 2, with bias.
Feature conv_transpose_2x(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs);
/// Running statistics are those that x has.
Feature batch_norm(TemplateBuilder& b, const Scope& s, const Feature& x, const NormSpec& spec);
/// A convolution and the batch normalisation (kActivatedNorm) behind it as the one Conv with bias that
/// exporters make of them.
Feature conv_with_folded_norm(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec);

Feature relu(TemplateBuilder& b, const Scope& s, const Feature& x);
Feature relu6(TemplateBuilder& b, const Scope& s, const Feature& x);
/// x * Sigmoid(x).
Feature silu(TemplateBuilder& b, const Scope& s, const Feature& x);

Feature add(TemplateBuilder& b, const Scope& s, const Feature& x, const Feature& y);
Feature concat(TemplateBuilder& b, const Scope& s, const std::vector<Feature>& parts);
/// The channels in equal parts.
std::vector<Feature> split_channels(TemplateBuilder& b, const Scope& s, const Feature& x, int parts);
/// `reach` is the window that an output value has seen in all when pools follow each other; 0: the kernel.
Feature max_pool(TemplateBuilder& b, const Scope& s, const Feature& x, const Window& window,
                 int64_t reach = 0);
/// Nearest-neighbour, factor 2.
Feature upsample_2x(TemplateBuilder& b, const Scope& s, const Feature& x);

/// GlobalAveragePool and Flatten: [batch, channels].
Value* global_average(TemplateBuilder& b, const Scope& pool, const Scope& flatten, const Feature& x);
/// Gemm with weight [outputs, inputs] and bias.
Value* fully_connected(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs,
                       const Init& init);

}  // namespace assay
