#include "templates/hifi_gan.h"

#include <fmt/core.h>

#include "templates/signal_net.h"

namespace assay {
namespace {

constexpr float kHifiSlope = 0.1F;

Value* hifi_block(TemplateBuilder& b, const Scope& s, Value* x, int64_t channels, const HifiGanBlock& block,
                  bool has_second) {
  const auto layer = [&](const char* list, size_t i, Value* v, int64_t dilation, double gain) {
    const DepthwiseConv1d spec = {
        .inputs = channels, .outputs = channels, .kernel = block.kernel, .dilation = dilation, .gain = gain};
    const Scope at = s.child(fmt::format("{}.{}", list, i));
    return depthwise_conv1d(b, at, leaky(b, s, v, kHifiSlope), spec.same());
  };
  for (size_t i = 0; i < block.dilations.size(); ++i) {
    Value* y = layer(has_second ? "convs1" : "convs", i, x, block.dilations[i], has_second ? 1.4 : 0.7);
    if (has_second) y = layer("convs2", i, y, 1, 0.7);
    x = b.node(s, "Add", {y, x});
  }
  return x;
}

}  // namespace

Value* hifi_gan(TemplateBuilder& b, const Scope& s, Value* x, const HifiGanSpec& spec) {
  int64_t channels = spec.channels;
  x = depthwise_conv1d(b, s.child("conv_pre"), x,
                       DepthwiseConv1d{.inputs = spec.inputs, .outputs = channels, .kernel = 7}.same());
  size_t index = 0;
  for (size_t stage = 0; stage < spec.upsampling.size(); ++stage) {
    const auto [rate, kernel] = spec.upsampling[stage];
    x = depthwise_conv1d_transpose(b, s.child(fmt::format("ups.{}", stage)), leaky(b, s, x, kHifiSlope),
                                   {.inputs = channels,
                                    .outputs = channels / 2,
                                    .kernel = kernel,
                                    .stride = rate,
                                    .pad = (kernel - rate) / 2,
                                    .gain = 1.2});
    channels /= 2;
    Value* sum = nullptr;
    for (const HifiGanBlock& block : spec.blocks) {
      const Scope at = s.child(fmt::format("resblocks.{}", index++));
      Value* y = hifi_block(b, at, x, channels, block, spec.has_second_convs);
      sum = sum == nullptr ? y : b.node(s, "Add", {sum, y});
    }
    x = b.node(s, "Div", {sum, b.scalar(s, static_cast<float>(spec.blocks.size()))});
  }
  x = depthwise_conv1d(b, s.child("conv_post"), leaky(b, s, x, 0.01F),
                       DepthwiseConv1d{.inputs = channels, .outputs = 1, .kernel = 7, .gain = 0.5}.same());
  return b.node(s, "Tanh", {x});
}

}  // namespace assay
