// One step of a latent diffusion model's U-Net (Rombach et al., "High-Resolution Image Synthesis with Latent
// Diffusion Models", 2022), Stable Diffusion 1's structure, named as in Hugging Face's UNet2DConditionModel.
// A fifth of its channels (64, 128, 256, 256 of 320, 640, 1280, 1280) and latents of 32x32: the published one
// has 860 M parameters.
#include <fmt/core.h>

#include <cmath>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/signal_net.h"
#include "templates/template_list.h"

namespace assay::template_diffusion_unet {
namespace {

constexpr int64_t kChannels[] = {64, 128, 256, 256};
constexpr int64_t kExtent = 32, kLatents = 4, kTime = 256, kContext = 768, kWords = 77, kHeadCount = 8;

class DiffusionUnet {
 public:
  explicit DiffusionUnet(const TemplateOptions& options) : b_(options, "diffusion_unet") {}

  std::shared_ptr<Model> build();

 private:
  /// A convolution without activation statistics: group normalization needs none.
  Feature conv2d(const Scope& s, const Feature& x, int64_t outputs, int64_t kernel, int64_t stride = 1,
                 double gain = 1) {
    const ConvSpec spec = {
        .outputs = outputs, .kernel = kernel, .stride = stride, .pad = kernel / 2, .bias = true};
    const double fan = static_cast<double>(x.channels * kernel * kernel);
    return conv(b_, s, x, spec, Init::normal(gain / std::sqrt(fan)), Init::normal(0.02));
  }
  Feature norm_silu(const Scope& norm, const Scope& act, const Feature& x) {
    Feature y = x;
    y.value = silu(b_, act, group_norm(b_, norm, x.value, x.channels, 32, 2));
    return y;
  }
  Value* plus(const Scope& s, Value* x, Value* y) { return b_.node(s, "Add", {x, y}); }

  Value* time_embedding(const Scope& root, Value* steps);
  Feature residual(const Scope& s, const Feature& x, int64_t outputs);
  Value* attention(const Scope& s, Value* x, Value* context, int64_t width, int64_t context_width);
  Feature transformer(const Scope& s, const Feature& x);
  Feature joined(const Scope& s, const Feature& x);

  TemplateBuilder b_;
  Value *time_ = nullptr, *context_ = nullptr;
  std::vector<Feature> skips_;
};

/// [batch, kTime]: cosines and sines of the step, and two linear layers.
Value* DiffusionUnet::time_embedding(const Scope& root, Value* steps) {
  const Scope projection = root.child("time_proj"), layers = root.child("time_embedding");
  std::vector<float> frequencies;
  for (int64_t i = 0; i < kChannels[0] / 2; ++i)
    frequencies.push_back(
        static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(i) / double{kChannels[0]})));
  Value* angles = b_.node(projection, "Mul",
                          {unsqueeze(b_, projection, steps, {1}),
                           b_.constant(projection, Tensor::from({1, kChannels[0] / 2}, frequencies))});
  Value* x = concat(b_, projection,
                    {b_.node(projection, "Cos", {angles}), b_.node(projection, "Sin", {angles})}, -1);
  x = fully_connected(b_, layers.child("linear_1"), x, kChannels[0], kTime, Init::he_normal(kChannels[0]));
  x = silu(b_, layers.child("act"), x);
  return fully_connected(b_, layers.child("linear_2"), x, kTime, kTime, Init::he_normal(kTime));
}

Feature DiffusionUnet::residual(const Scope& s, const Feature& x, int64_t outputs) {
  Feature y =
      conv2d(s.child("conv1"), norm_silu(s.child("norm1"), s.child("nonlinearity"), x), outputs, 3, 1, 1.4);
  Value* time = fully_connected(b_, s.child("time_emb_proj"), silu(b_, s.child("nonlinearity"), time_), kTime,
                                outputs, Init::lecun_normal(kTime));
  y.value = plus(s, y.value, unsqueeze(b_, s, time, {2, 3}));
  y = conv2d(s.child("conv2"), norm_silu(s.child("norm2"), s.child("nonlinearity"), y), outputs, 3, 1, 0.7);
  const Feature shortcut = x.channels == outputs ? x : conv2d(s.child("conv_shortcut"), x, outputs, 1);
  y.value = plus(s, shortcut.value, y.value);
  return y;
}

Value* DiffusionUnet::attention(const Scope& s, Value* x, Value* context, int64_t width,
                                int64_t context_width) {
  const Heads heads = {kHeadCount, width / kHeadCount};
  const auto part = [&](const char* name, Value* v, int64_t inputs) {
    return split_heads(b_, s, product(b_, s.child(name), v, inputs, width, Init::lecun_normal(inputs)),
                       heads.count, heads.width);
  };
  // One by one: compilers do not agree on the order of a call's arguments, by which the weights are drawn.
  Value* value = part("to_v", context, context_width);
  Value* key = part("to_k", context, context_width);
  Value* query = part("to_q", x, width);
  Value* mixed = attend(b_, s, heads, query, key, value);
  return linear(b_, s.child("to_out").item(0), mixed, width, width, Init::lecun_normal(width));
}

/// Self-attention, attention to the words, gated network; over the cells of a map.
Feature DiffusionUnet::transformer(const Scope& s, const Feature& x) {
  const int64_t width = x.channels;
  const Scope block = s.child("transformer_blocks.0"), network = block.at("ff/net.0");
  Feature y = x;
  y.value = group_norm(b_, s.child("norm"), x.value, width, 32, 2, 1e-6F);
  y = conv2d(s.child("proj_in"), y, width, 1);
  Value* z = reshape(b_, s, transpose(b_, s, y.value, {0, 2, 3, 1}), {0, x.height * x.width, width});
  const auto norm = [&](const char* name) { return layer_norm(b_, block.child(name), z, width, 1e-5F); };
  Value* normal = norm("norm1");
  z = plus(block, attention(block.child("attn1"), normal, normal, width, width), z);
  z = plus(block, attention(block.child("attn2"), norm("norm2"), context_, width, kContext), z);
  Value* inner =
      linear(b_, network.child("proj"), norm("norm3"), width, 8 * width, Init::lecun_normal(width));
  const std::vector<Value*> parts = split(b_, network, inner, 2, {4 * width, 4 * width});
  inner = b_.node(network, "Mul", {parts[0], gelu(b_, network, parts[1])});
  z = plus(block, linear(b_, block.at("ff/net.2"), inner, 4 * width, width, Init::lecun_normal(4 * width)),
           z);
  y.value = transpose(b_, s, reshape(b_, s, z, {0, x.height, x.width, width}), {0, 3, 1, 2});
  y = conv2d(s.child("proj_out"), y, width, 1, 1, 0.7);
  y.value = plus(s, y.value, x.value);
  return y;
}

/// x concatenated with the latest of the maps kept on the way down.
Feature DiffusionUnet::joined(const Scope& s, const Feature& x) {
  Feature y = x;
  y.value = concat(b_, s, {x.value, skips_.back().value}, 1);
  y.channels += skips_.back().channels;
  skips_.pop_back();
  return y;
}

std::shared_ptr<Model> DiffusionUnet::build() {
  const Scope root, middle = root.child("mid_block");
  Feature x{b_.input("sample", DType::kFloat32, {b_.batch(), kLatents, kExtent, kExtent}),
            kLatents,
            kExtent,
            kExtent,
            {},
            {}};
  Value* steps = b_.input("timestep", DType::kFloat32, {b_.batch()});
  context_ = b_.input("encoder_hidden_states", DType::kFloat32, {b_.batch(), kWords, kContext});
  time_ = time_embedding(root, steps);
  x = conv2d(root.child("conv_in"), x, kChannels[0], 3);
  skips_.push_back(x);
  for (int level = 0; level < 4; ++level) {
    const Scope s = root.child(fmt::format("down_blocks.{}", level));
    for (int i = 0; i < 2; ++i) {
      x = residual(s.child(fmt::format("resnets.{}", i)), x, kChannels[level]);
      if (level < 3) x = transformer(s.child(fmt::format("attentions.{}", i)), x);
      skips_.push_back(x);
    }
    if (level == 3) break;
    x = conv2d(s.at("downsamplers.0/conv"), x, x.channels, 3, 2);
    skips_.push_back(x);
  }
  x = residual(middle.child("resnets.0"), x, x.channels);
  x = transformer(middle.child("attentions.0"), x);
  x = residual(middle.child("resnets.1"), x, x.channels);
  for (int level = 3; level >= 0; --level) {
    const Scope s = root.child(fmt::format("up_blocks.{}", 3 - level));
    for (int i = 0; i < 3; ++i) {
      x = residual(s.child(fmt::format("resnets.{}", i)), joined(s, x), kChannels[level]);
      if (level < 3) x = transformer(s.child(fmt::format("attentions.{}", i)), x);
    }
    if (level == 0) break;
    const Scope up = s.child("upsamplers.0");
    x = conv2d(up.child("conv"), upsample_2x(b_, up, x), x.channels, 3);
  }
  x = conv2d(root.child("conv_out"), norm_silu(root.child("conv_norm_out"), root.child("conv_act"), x),
             kLatents, 3);
  b_.output(x.value, "out_sample", DType::kFloat32, {b_.batch(), kLatents, kExtent, kExtent});
  return b_.finish();
}

std::shared_ptr<Model> build(const TemplateOptions& options) { return DiffusionUnet(options).build(); }

}  // namespace

constinit const ModelTemplate def = {
    .name = "diffusion-unet",
    .summary = "image generation: one step of a latent diffusion U-Net, narrow (after Rombach et al., 2022)",
    .build = build};

}  // namespace assay::template_diffusion_unet
