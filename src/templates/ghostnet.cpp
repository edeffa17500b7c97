// GhostNet 1.0x (Han et al., "GhostNet: More Features from Cheap Operations", 2020), as timm builds it.
#include <fmt/core.h>
#include <algorithm>

#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_ghostnet {
namespace {

constexpr int64_t kClasses = 1000, kLastChannels = 1280;

struct Block {
  int64_t kernel, expanded, outputs;
  bool squeezes;
  int64_t stride;
};
constexpr Block kBlocks[] = {
    {3, 16, 16, false, 1},   {3, 48, 24, false, 2},  {3, 72, 24, false, 1},   {5, 72, 40, true, 2},
    {5, 120, 40, true, 1},   {3, 240, 80, false, 2}, {3, 200, 80, false, 1},  {3, 184, 80, false, 1},
    {3, 184, 80, false, 1},  {3, 480, 112, true, 1}, {3, 672, 112, true, 1},  {5, 672, 160, true, 2},
    {5, 960, 160, false, 1}, {5, 960, 160, true, 1}, {5, 960, 160, false, 1}, {5, 960, 160, true, 1}};

ConvSpec depthwise_spec(const Feature& x, int64_t kernel, int64_t stride) {
  return {.outputs = x.channels, .kernel = kernel, .stride = stride, .pad = kernel / 2, .groups = x.channels};
}

/// Half of the outputs by a 1x1 convolution, the other half from these by a depthwise one.
Feature ghost_module(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs,
                     const NormSpec& norm, Nonlinearity f) {
  const Scope primary = s.child("primary_conv"), cheap = s.child("cheap_operation");
  const int64_t half = (outputs + 1) / 2;
  Feature y = conv_norm(b, primary.item(0), primary.item(1), x, {.outputs = half}, norm);
  y = activate(b, primary.item(2), y, f);
  Feature z = conv_norm(b, cheap.item(0), cheap.item(1), y, depthwise_spec(y, 3, 1), norm);
  z = activate(b, cheap.item(2), z, f);
  return slice_channels(b, s, concat(b, s, {y, z}), 0, outputs);
}

Feature bottleneck(TemplateBuilder& b, const Scope& s, const Feature& x, const Block& block) {
  Feature y = ghost_module(b, s.child("ghost1"), x, block.expanded, kActivatedNorm, Nonlinearity::kRelu);
  if (block.stride > 1)
    y = conv_norm(b, s.child("conv_dw"), s.child("bn_dw"), y, depthwise_spec(y, block.kernel, block.stride));
  if (block.squeezes) {
    const int64_t channels = (block.expanded / 4 + 2) / 4 * 4;
    y = squeeze_excite(b, s.child("se"), y,
                       {.channels = channels,
                        .reduce = "conv_reduce",
                        .expand = "conv_expand",
                        .outer = Nonlinearity::kHardSigmoid,
                        .reduce_mean = true});
  }
  y = ghost_module(b, s.child("ghost2"), y, block.outputs, kResidualNorm, Nonlinearity::kNone);
  if (block.stride == 1 && x.channels == block.outputs) return add(b, s, y, x);
  const Scope shortcut = s.child("shortcut");
  Feature z = conv_norm(b, shortcut.item(0), shortcut.item(1), x,
                        depthwise_spec(x, block.kernel, block.stride), kLinearNorm);
  z = conv_norm(b, shortcut.item(2), shortcut.item(3), z, {.outputs = block.outputs}, kLinearNorm);
  return add(b, s, y, z);
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "ghostnet");
  const Scope root, blocks = root.child("blocks");
  Feature x = image_input(b, "input", 3, 224, 224);
  x = conv_norm(b, root.child("conv_stem"), root.child("bn1"), x,
                {.outputs = 16, .kernel = 3, .stride = 2, .pad = 1});
  x = relu(b, root.child("act1"), x);
  int stage = 0, index = 0;
  for (const Block& block : kBlocks) {
    const bool is_new = &block != kBlocks && (block.stride > 1 || (&block)[-1].stride > 1);
    if (is_new) {
      ++stage;
      index = 0;
    }
    x = bottleneck(b, blocks.item(stage).item(index++), x, block);
  }
  const Scope last = blocks.item(stage + 1).item(0);
  x = relu(b, last.child("act1"), conv_norm(b, last.child("conv"), last.child("bn1"), x, {.outputs = 960}));
  x = global_pool(b, root.child("global_pool"), x);
  x = relu(b, root.child("act2"),
           conv(b, root.child("conv_head"), x, {.outputs = kLastChannels, .bias = true}));
  Value* flat = b.node(root, "Flatten", {x.value}, {{"axis", int64_t{1}}});
  Value* logits = fully_connected(b, root.child("classifier"), flat, kLastChannels, kClasses,
                                  Init::lecun_normal(kLastChannels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "ghostnet",
    .summary = "image classifier: half of the channels by depthwise convolutions (Han et al., 2020)",
    .build = build};

}  // namespace assay::template_ghostnet
