// SegFormer-B0 (Xie et al., "SegFormer: Simple and Efficient Design for Semantic Segmentation with
// Transformers", 2021) for the 150 classes of ADE20K, named as in Hugging Face's
// SegformerForSemanticSegmentation.
#include <fmt/core.h>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_segformer_b0 {
namespace {

constexpr int64_t kExtent = 512, kHeadWidth = 32, kDecoder = 256, kClasses = 150;
constexpr float kEpsilon = 1e-6F;

struct Stage {
  int64_t width, reduction, patch, stride;
};
constexpr Stage kStages[] = {{32, 8, 7, 4}, {64, 4, 3, 2}, {160, 2, 3, 2}, {256, 1, 3, 2}};
constexpr int kDepth = 2;

/// A map's cells as tokens [batch, cells, channels], and back.
Value* tokens(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return transpose(b, s, reshape(b, s, x.value, {0, x.channels, -1}), {0, 2, 1});
}
Feature as_map(TemplateBuilder& b, const Scope& s, Value* v, int64_t channels, const Feature& like) {
  Value* y = reshape(b, s, transpose(b, s, v, {0, 2, 1}), {-1, channels, like.height, like.width});
  return {y, channels, like.height, like.width, {}, {}};
}

Feature plain_conv(TemplateBuilder& b, const Scope& s, const Feature& x, ConvSpec spec) {
  spec.bias = true;
  const int64_t fan = x.channels / spec.groups * spec.kernel * spec.kernel;
  return conv(b, s, x, spec, Init::lecun_normal(fan), Init::normal(0.02));
}

/// Attention with keys and values from a smaller map.
Value* attention(TemplateBuilder& b, const Scope& s, Value* x, const Feature& map, const Stage& stage) {
  const Scope self = s.child("self");
  const int64_t width = stage.width, heads = width / kHeadWidth;
  const Init init = Init::lecun_normal(width);
  Value* source = x;
  if (stage.reduction > 1) {
    const Feature small =
        plain_conv(b, self.child("sr"), as_map(b, self, x, width, map),
                   {.outputs = width, .kernel = stage.reduction, .stride = stage.reduction});
    source = layer_norm(b, self.child("layer_norm"), tokens(b, self, small), width, 1e-5F);
  }
  const auto split_part = [&](const char* name, Value* v) {
    return split_heads(b, self, linear(b, self.child(name), v, width, width, init), heads, kHeadWidth);
  };
  // One by one: compilers do not agree on the order of a call's arguments, by which the weights are drawn.
  Value* value = split_part("value", source);
  Value* key = split_part("key", source);
  Value* query = split_part("query", x);
  Value* mixed = attend(b, self, {heads, kHeadWidth}, query, key, value);
  return linear(b, s.at("output/dense"), mixed, width, width, init);
}

Value* mix_network(TemplateBuilder& b, const Scope& s, Value* x, const Feature& map, int64_t width) {
  x = linear(b, s.child("dense1"), x, width, 4 * width, Init::lecun_normal(width));
  const Scope dw = s.child("dwconv");
  const Feature y = plain_conv(b, dw.child("dwconv"), as_map(b, dw, x, 4 * width, map),
                               {.outputs = 4 * width, .kernel = 3, .pad = 1, .groups = 4 * width});
  x = gelu(b, s.child("intermediate_act_fn"), tokens(b, dw, y));
  return linear(b, s.child("dense2"), x, 4 * width, width, Init::lecun_normal(4 * width));
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "segformer_b0");
  const Scope root, encoder = root.at("segformer/encoder"), head = root.child("decode_head");
  Feature x = image_input(b, "pixel_values", 3, kExtent, kExtent);
  std::vector<Feature> stages;
  int index = 0;
  for (const Stage& stage : kStages) {
    const Scope patch = encoder.child(fmt::format("patch_embeddings.{}", index));
    x = plain_conv(
        b, patch.child("proj"), x,
        {.outputs = stage.width, .kernel = stage.patch, .stride = stage.stride, .pad = stage.patch / 2});
    Value* y = layer_norm(b, patch.child("layer_norm"), tokens(b, patch, x), stage.width, 1e-5F);
    for (int i = 0; i < kDepth; ++i) {
      const Scope s = encoder.child(fmt::format("block.{}.{}", index, i));
      Value* z = layer_norm(b, s.child("layer_norm_1"), y, stage.width, kEpsilon);
      y = b.node(s, "Add", {attention(b, s.child("attention"), z, x, stage), y});
      z = layer_norm(b, s.child("layer_norm_2"), y, stage.width, kEpsilon);
      y = b.node(s, "Add", {mix_network(b, s.child("mlp"), z, x, stage.width), y});
    }
    y = layer_norm(b, encoder.child(fmt::format("layer_norm.{}", index)), y, stage.width, kEpsilon);
    x = as_map(b, encoder, y, stage.width, x);
    stages.push_back(x);
    ++index;
  }
  std::vector<Feature> levels;
  for (size_t i = 0; i < stages.size(); ++i) {
    const Scope s = head.child(fmt::format("linear_c.{}", i));
    Value* y = linear(b, s.child("proj"), tokens(b, s, stages[i]), stages[i].channels, kDecoder,
                      Init::lecun_normal(stages[i].channels));
    Feature level = as_map(b, head, y, kDecoder, stages[i]);
    if (i > 0) level = resize_bilinear(b, head, level, stages[0].height, stages[0].width);
    levels.insert(levels.begin(), level);
  }
  x = concat(b, head, levels);
  // Layer normalizations and linear layers lead to about a unit normal.
  if (b.has_weights())
    x.moments = {std::vector<float>(static_cast<size_t>(x.channels), 0),
                 std::vector<float>(static_cast<size_t>(x.channels), 1)};
  x = conv_norm(b, head.child("linear_fuse"), head.child("batch_norm"), x, {.outputs = kDecoder});
  x = relu(b, head.child("activation"), x);
  x = conv(b, head.child("classifier"), x, {.outputs = kClasses, .bias = true});
  b.output(x.value, "logits", DType::kFloat32, {b.batch(), kClasses, kExtent / 4, kExtent / 4});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "segformer-b0",
    .summary = "segmentation: transformer on four scales, 512x512 (Xie et al., 2021)",
    .build = build};

}  // namespace assay::template_segformer_b0
