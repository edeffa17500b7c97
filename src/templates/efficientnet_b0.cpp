// EfficientNet-B0 (Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks",
// 2019), as torchvision builds it.
#include <algorithm>

#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_efficientnet_b0 {
namespace {

struct Stage {
  int64_t expansion, kernel, stride, channels;
  int blocks;
};
constexpr Stage kStages[] = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                             {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};
constexpr int64_t kLastChannels = 1280;
constexpr int64_t kClasses = 1000;

/// Conv2dNormActivation: convolution, batch normalisation, SiLU.
Feature conv_norm_silu(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec) {
  Feature y = batch_norm(b, s.item(1), conv(b, s.item(0), x, spec), kActivatedNorm);
  return silu(b, s.item(2), y);
}

/// The gate scales each channel by a number that depends on the channels' means only.
ChannelMoments gated_moments(const ChannelMoments& x, const ChannelMoments& gate) {
  ChannelMoments y = x;
  for (size_t c = 0; c < y.mean.size(); ++c) {
    y.mean[c] *= gate.mean[c];
    y.variance[c] *= gate.mean[c] * gate.mean[c];
  }
  return y;
}

/// A pooled map varies much less than the map: its moments are the means alone.
Feature squeezed(TemplateBuilder& b, const Scope& s, const Feature& x) {
  Feature y{b.node(s, "GlobalAveragePool", {x.value}), x.channels, 1, 1};
  y.moments = {x.moments.mean, std::vector<float>(x.moments.mean.size(), 0.0F)};
  y.before_activation = y.moments;
  return y;
}

Feature squeeze_excite(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t squeeze_channels) {
  Feature y = squeezed(b, s.child("avgpool"), x);
  y = conv(b, s.child("fc1"), y, {.outputs = squeeze_channels, .bias = true});
  y = silu(b, s.child("activation"), y);
  y = conv(b, s.child("fc2"), y, {.outputs = x.channels, .bias = true});
  const ChannelMoments gate = activation_moments(y.moments, logistic_function);
  Value* sigmoid = b.node(s.child("scale_activation"), "Sigmoid", {y.value});
  Feature z = x;
  z.value = b.node(s, "Mul", {sigmoid, x.value});
  z.moments = z.before_activation = gated_moments(x.moments, gate);
  z.activation = identity;
  return z;
}

/// MBConv: expansion, depthwise convolution, squeeze-and-excitation, projection.
Feature inverted_residual(TemplateBuilder& b, const Scope& s, const Feature& x, const Stage& stage,
                          int64_t stride) {
  const Scope layers = s.child("block");
  const bool is_residual = stride == 1 && x.channels == stage.channels;
  int i = 0;
  Feature y = x;
  if (stage.expansion != 1)
    y = conv_norm_silu(b, layers.item(i++), y, {.outputs = x.channels * stage.expansion});
  const ConvSpec depthwise = {.outputs = y.channels,
                              .kernel = stage.kernel,
                              .stride = stride,
                              .pad = stage.kernel / 2,
                              .groups = y.channels};
  y = conv_norm_silu(b, layers.item(i++), y, depthwise);
  y = squeeze_excite(b, layers.item(i++), y, std::max<int64_t>(1, x.channels / 4));
  const Scope project = layers.item(i);
  y = conv(b, project.item(0), y, {.outputs = stage.channels});
  y = batch_norm(b, project.item(1), y, is_residual ? kResidualNorm : kLinearNorm);
  return is_residual ? add(b, s, y, x) : y;
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "efficientnet_b0");
  const Scope root;
  const Scope features = root.child("features");
  Feature x = image_input(b, "input", 3, 224, 224);
  int index = 0;
  x = conv_norm_silu(b, features.item(index++), x, {.outputs = 32, .kernel = 3, .stride = 2, .pad = 1});
  for (const Stage& stage : kStages) {
    const Scope blocks = features.item(index++);
    for (int i = 0; i < stage.blocks; ++i)
      x = inverted_residual(b, blocks.item(i), x, stage, i == 0 ? stage.stride : 1);
  }
  x = conv_norm_silu(b, features.item(index), x, {.outputs = kLastChannels});
  Value* pooled = global_average(b, root.child("avgpool"), root, x);
  Value* logits = fully_connected(b, root.child("classifier").item(1), pooled, kLastChannels, kClasses,
                                  Init::lecun_normal(kLastChannels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "efficientnet-b0",
    .summary = "image classifier: SiLU, squeeze-and-excitation (Tan and Le, 2019)",
    .build = build};

}  // namespace assay::template_efficientnet_b0
