// The layers that convolutional networks share. Each adds its nodes and describes the result: extents, and
// the statistics that the next batch normalization needs.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "templates/builder.h"
#include "templates/moments.h"

namespace assay {

/// A feature map [batch, channels, height, width] in the network.
struct Feature {
  Value* value = nullptr;
  int64_t channels = 0, height = 0, width = 0;
  ChannelMoments moments;
  /// The input of the last activation function, for a following pooling layer.
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
  int64_t dilation = 1;
  /// Along the width, where they differ from those along the height.
  std::optional<int64_t> kernel_width = {}, stride_width = {}, pad_width = {};

  Window rows() const { return {kernel, stride, pad, dilation}; }
  Window columns() const {
    return {kernel_width.value_or(kernel), stride_width.value_or(stride), pad_width.value_or(pad), dilation};
  }
};

/// The activation function after a convolution or normalization.
enum class Nonlinearity : uint8_t {
  kNone,
  kRelu,
  kRelu6,
  kSilu,       ///< x * Sigmoid(x)
  kHardSwish,  ///< the operator from opset 14 on, else x * HardSigmoid(x)
  kClipSwish,  ///< the same function as x * Clip(x + 3, 0, 6) / 6
  kSigmoid,
  kHardSigmoid,
  kLeakyRelu,
  kGelu,
  kTanh,
  kClip20,  ///< Clip(x, 0, 20), the clipped ReLU of speech networks
};

/// The means from which a batch normalization's scales and shifts are drawn.
struct NormSpec {
  double scale, shift;
  double epsilon = 1e-5;
};
/// Before an activation function. The positive shift damps errors of the predicted statistics from layer to
/// layer; without it ReLU preserves them, and SiLU amplifies them.
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
/// Doubles the extents: kernel 3, stride 2, padding 1 and one more row and column at the end, with bias.
Feature conv_transpose_3x3(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs);
/// Running statistics are those of x.
Feature batch_norm(TemplateBuilder& b, const Scope& s, const Feature& x, const NormSpec& spec);
/// A convolution and its batch normalization, folded into one Conv with bias as by exporters.
Feature conv_with_folded_norm(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec,
                              const NormSpec& norm = kActivatedNorm);
/// A convolution at `s` and the batch normalization at
/// `norm_scope`: folded or not, by the builder's style.
Feature conv_norm(TemplateBuilder& b, const Scope& s, const Scope& norm_scope, const Feature& x,
                  const ConvSpec& spec, const NormSpec& norm = kActivatedNorm);

Feature activate(TemplateBuilder& b, const Scope& s, const Feature& x, Nonlinearity f);
Feature relu(TemplateBuilder& b, const Scope& s, const Feature& x);
Feature relu6(TemplateBuilder& b, const Scope& s, const Feature& x);
/// x * Sigmoid(x).
Feature silu(TemplateBuilder& b, const Scope& s, const Feature& x);

Feature add(TemplateBuilder& b, const Scope& s, const Feature& x, const Feature& y);
Feature concat(TemplateBuilder& b, const Scope& s, const std::vector<Feature>& parts);
/// The channels in equal parts.
std::vector<Feature> split_channels(TemplateBuilder& b, const Scope& s, const Feature& x, int parts);
/// `reach` is the receptive field of successive pools; 0: the kernel.
Feature max_pool(TemplateBuilder& b, const Scope& s, const Feature& x, const Window& window,
                 int64_t reach = 0);
/// Padding counts as zeros, unless `counts_padding` is false.
Feature average_pool(TemplateBuilder& b, const Scope& s, const Feature& x, const Window& window,
                     bool counts_padding = true);
/// [batch, channels, 1, 1]. A pooled map varies much less than the map: its moments are the means alone.
Feature global_pool(TemplateBuilder& b, const Scope& s, const Feature& x);
/// x times a gate per channel, both with the same number of channels.
Feature gate(TemplateBuilder& b, const Scope& s, const Feature& x, const Feature& factors);
/// Channels first to last of x.
Feature slice_channels(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t first, int64_t last);

/// Squeeze-and-excitation (Hu et al., 2018): 1x1 convolutions of the channels' means compute a factor per
/// channel.
struct SqueezeExcite {
  int64_t channels = 0;
  std::string_view reduce = "fc1", expand = "fc2";
  Nonlinearity inner = Nonlinearity::kRelu, outer = Nonlinearity::kSigmoid;
  bool reduce_mean = false;  ///< the mean as ReduceMean over two axes instead of GlobalAveragePool
};
Feature squeeze_excite(TemplateBuilder& b, const Scope& s, const Feature& x, const SqueezeExcite& spec);

/// Nearest-neighbour, factor 2.
Feature upsample_2x(TemplateBuilder& b, const Scope& s, const Feature& x);

/// Bilinear to the given extents, as PyTorch's interpolate(align_corners=False) is exported.
Feature resize_bilinear(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t height, int64_t width);

/// GlobalAveragePool and Flatten: [batch, channels].
Value* global_average(TemplateBuilder& b, const Scope& pool, const Scope& flatten, const Feature& x);
/// Gemm with weight [outputs, inputs] and bias.
Value* fully_connected(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs,
                       const Init& init);

}  // namespace assay
