// wav2vec 2.0 base with its CTC head (Baevski et al., "wav2vec 2.0: A Framework for Self-Supervised Learning
// of Speech Representations", 2020), named as in Hugging Face's Wav2Vec2ForCTC: one second of sound. The
// weight normalization of the position convolution is part of its weights.
#include <fmt/core.h>

#include "templates/layers.h"
#include "templates/signal_net.h"
#include "templates/template_list.h"

namespace assay::template_wav2vec2_base {
namespace {

constexpr int64_t kSamples = 16000, kChannels = 512, kWidth = 768, kInner = 3072, kLabels = 32, kFrames = 49;
constexpr Heads kHeads = {12, 64};
constexpr int kLayers = 12;
constexpr float kEpsilon = 1e-5F;
const Init kInit = Init::lecun_normal(kWidth);

/// [batch, kFrames, kChannels] of the samples.
Value* features(TemplateBuilder& b, const Scope& s, Value* samples) {
  struct Layer {
    int64_t kernel, stride;
  };
  constexpr Layer kConvs[] = {{10, 5}, {3, 2}, {3, 2}, {3, 2}, {3, 2}, {2, 2}, {2, 2}};
  Value* x = unsqueeze(b, s, samples, {1});
  int64_t inputs = 1;
  for (int i = 0; i < 7; ++i) {
    const Scope layer = s.child(fmt::format("conv_layers.{}", i));
    x = depthwise_conv1d(b, layer.child("conv"), x,
                         {.inputs = inputs,
                          .outputs = kChannels,
                          .kernel = kConvs[i].kernel,
                          .stride = kConvs[i].stride,
                          .bias = false,
                          .gain = i == 0 ? 1.0 : 1.5});
    if (i == 0) x = group_norm(b, layer.child("layer_norm"), x, kChannels, kChannels, 1);
    x = gelu(b, layer.child("activation"), x);
    inputs = kChannels;
  }
  return transpose(b, s, x, {0, 2, 1});
}

Value* attention(TemplateBuilder& b, const Scope& s, Value* x) {
  const auto heads = [&](const char* name) {
    return split_heads(b, s, linear(b, s.child(name), x, kWidth, kWidth, kInit), kHeads.count, kHeads.width);
  };
  Value *query = heads("q_proj"), *key = heads("k_proj"), *value = heads("v_proj");
  return linear(b, s.child("out_proj"), attend(b, s, kHeads, query, key, value), kWidth, kWidth, kInit);
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "wav2vec2_base");
  const Scope root, model = root.child("wav2vec2"), encoder = model.child("encoder");
  const auto norm = [&](const Scope& s, Value* v, int64_t width) {
    return layer_norm(b, s, v, width, kEpsilon);
  };
  Value* x = features(b, model.child("feature_extractor"),
                      b.input("input_values", DType::kFloat32, {b.batch(), kSamples}));
  const Scope projection = model.child("feature_projection");
  x = norm(projection.child("layer_norm"), x, kChannels);
  x = linear(b, projection.child("projection"), x, kChannels, kWidth, Init::lecun_normal(kChannels));
  const Scope position = encoder.child("pos_conv_embed");
  Value* placed =
      depthwise_conv1d(b, position.child("conv"), transpose(b, position, x, {0, 2, 1}),
                       {.inputs = kWidth, .outputs = kWidth, .kernel = 128, .pad = 64, .groups = 16});
  placed = gelu(b, position.child("activation"), slice(b, position.child("padding"), placed, 2, 0, -1));
  x = norm(encoder.child("layer_norm"),
           b.node(encoder, "Add", {x, transpose(b, position, placed, {0, 2, 1})}), kWidth);
  for (int i = 0; i < kLayers; ++i) {
    const Scope s = encoder.child(fmt::format("layers.{}", i)), network = s.child("feed_forward");
    x = norm(s.child("layer_norm"), b.node(s, "Add", {x, attention(b, s.child("attention"), x)}), kWidth);
    Value* y = linear(b, network.child("intermediate_dense"), x, kWidth, kInner, kInit);
    y = gelu(b, network.child("intermediate_act_fn"), y);
    y = linear(b, network.child("output_dense"), y, kInner, kWidth, Init::lecun_normal(kInner));
    x = norm(s.child("final_layer_norm"), b.node(s, "Add", {x, y}), kWidth);
  }
  x = linear(b, root.child("lm_head"), x, kWidth, kLabels, kInit);
  b.output(x, "logits", DType::kFloat32, {b.batch(), kFrames, kLabels});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "wav2vec2-base",
    .summary = "speech recogniser on samples: 1-D convolutions and a transformer, 1 s (Baevski et al., 2020)",
    .build = build};

}  // namespace assay::template_wav2vec2_base
