// Whisper tiny's encoder: 30 seconds of 80 mel bands.
#include <fmt/core.h>

#include "templates/signal_net.h"
#include "templates/template_list.h"
#include "templates/whisper.h"

namespace assay::template_whisper_tiny_encoder {
namespace {

constexpr int64_t kBands = 80;

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "whisper_tiny_encoder");
  const Scope root;
  Value* x = b.input("input_features", DType::kFloat32, {b.batch(), kBands, 2 * kWhisperFrames});
  const DepthwiseConv1d first = {
      .inputs = kBands, .outputs = kWhisperWidth, .kernel = 3, .pad = 1, .gain = 1.4};
  const DepthwiseConv1d second = {
      .inputs = kWhisperWidth, .outputs = kWhisperWidth, .kernel = 3, .stride = 2, .pad = 1, .gain = 1.4};
  x = gelu(b, root, depthwise_conv1d(b, root.child("conv1"), x, first));
  x = gelu(b, root, depthwise_conv1d(b, root.child("conv2"), x, second));
  x = transpose(b, root, x, {0, 2, 1});
  x = b.node(root, "Add",
             {x, b.weight(root.child("embed_positions"), "weight", {kWhisperFrames, kWhisperWidth},
                          Init::normal(0.7))});
  for (int i = 0; i < kWhisperLayers; ++i) {
    const Scope layer = root.child(fmt::format("layers.{}", i)), s = layer.child("self_attn");
    Value* y = whisper_norm(b, layer.child("self_attn_layer_norm"), x);
    Value* query = whisper_heads(b, s, "q_proj", y);
    Value* key = whisper_heads(b, s, "k_proj", y);
    x = b.node(layer, "Add", {x, whisper_attention(b, s, query, key, whisper_heads(b, s, "v_proj", y))});
    x = whisper_network(b, layer, x);
  }
  x = whisper_norm(b, root.child("layer_norm"), x);
  b.output(x, "last_hidden_state", DType::kFloat32, {b.batch(), kWhisperFrames, kWhisperWidth});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {.name = "whisper-tiny-encoder",
                                     .summary = "speech encoder: 1500 steps of 30 s (Radford et al., 2022)",
                                     .build = build};

}  // namespace assay::template_whisper_tiny_encoder
