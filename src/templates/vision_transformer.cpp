#include "templates/vision_transformer.h"

#include <cmath>

#include "templates/conv_net.h"

namespace assay {
namespace {

constexpr int64_t kVitPatch = 16;
constexpr int64_t kVitPatches = (224 / kVitPatch) * (224 / kVitPatch);
constexpr int64_t kVitClasses = 1000;
constexpr float kVitEpsilon = 1e-6F;
constexpr Init kVitInit = Init::truncated_normal(0.02);

/// The class token once per image.
Value* class_tokens(TemplateBuilder& b, const Scope& root, Value* images, int64_t width) {
  Value* token = b.weight(root, "cls_token", {1, 1, width}, kVitInit);
  if (!b.is_dynamic()) {
    if (b.batch().value() == 1) return token;
    return b.node(root, "Expand", {token, b.ints(root, {b.batch().value(), 1, width})});
  }
  Value* shape = b.node(root, "Shape", {images});
  Value* batch = b.node(root, "Gather", {shape, b.ints(root, {0})}, {{"axis", int64_t{0}}});
  Value* target = b.node(root, "Concat", {batch, b.ints(root, {1, width})}, {{"axis", int64_t{0}}});
  return b.node(root, "Expand", {token, target});
}

/// [batch, tokens, width]: patches, the class token before them, positions added.
Value* vit_embed(TemplateBuilder& b, const Scope& root, const Feature& image, int64_t width) {
  const Scope patch = root.child("patch_embed");
  const ConvSpec spec = {.outputs = width, .kernel = kVitPatch, .stride = kVitPatch, .bias = true};
  const Init init = Init::lecun_normal(image.channels * kVitPatch * kVitPatch);
  const Feature patches = conv(b, patch.child("proj"), image, spec, init, Init::normal(0.02));
  Value* x = transpose(b, patch, reshape(b, patch, patches.value, {0, width, kVitPatches}), {0, 2, 1});
  x = b.node(root, "Concat", {class_tokens(b, root, image.value, width), x}, {{"axis", int64_t{1}}});
  return b.node(root, "Add", {x, b.weight(root, "pos_embed", {1, kVitPatches + 1, width}, kVitInit)});
}

Value* vit_attention(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, int64_t heads) {
  const int64_t head_width = width / heads;
  Value* qkv = linear(b, s.child("qkv"), x, width, 3 * width, kVitInit);
  qkv = transpose(b, s, reshape(b, s, qkv, {0, 0, 3, heads, head_width}), {2, 0, 3, 1, 4});
  const auto part = [&](int64_t i) {
    return b.node(s, "Gather", {qkv, b.constant(s, Tensor::scalar(i))}, {{"axis", int64_t{0}}});
  };
  Value* query = b.node(s, "Mul", {part(0), b.scalar(s, 1 / std::sqrt(static_cast<float>(head_width)))});
  Value* key = transpose(b, s, part(1), {0, 1, 3, 2});
  Value* value = part(2);
  Value* weights = softmax(b, s, b.node(s, "MatMul", {query, key}));
  Value* mixed = merge_heads(b, s, b.node(s, "MatMul", {weights, value}), heads, head_width);
  return linear(b, s.child("proj"), mixed, width, width, kVitInit);
}

Value* vit_mlp(TemplateBuilder& b, const Scope& s, Value* x, int64_t width) {
  x = linear(b, s.child("fc1"), x, width, 4 * width, kVitInit);
  x = gelu(b, s.child("act"), x);
  return linear(b, s.child("fc2"), x, 4 * width, width, kVitInit);
}

}  // namespace

std::shared_ptr<Model> build_vision_transformer(const TemplateOptions& options, std::string name,
                                                const VisionTransformerSpec& spec, const ExportStyle& style) {
  const int64_t width = spec.width;
  TemplateBuilder b(options, std::move(name), style);
  const Scope root;
  Value* x = vit_embed(b, root, image_input(b, "input", 3, 224, 224), width);
  for (int i = 0; i < spec.layers; ++i) {
    const Scope block = root.child("blocks").item(i);
    Value* attended =
        vit_attention(b, block.child("attn"), layer_norm(b, block.child("norm1"), x, width, kVitEpsilon),
                      width, spec.heads);
    x = b.node(block, "Add", {x, attended});
    Value* changed =
        vit_mlp(b, block.child("mlp"), layer_norm(b, block.child("norm2"), x, width, kVitEpsilon), width);
    x = b.node(block, "Add", {x, changed});
  }
  x = layer_norm(b, root.child("norm"), x, width, kVitEpsilon);
  Value* first =
      b.node(root, "Gather", {x, b.constant(root, Tensor::scalar(int64_t{0}))}, {{"axis", int64_t{1}}});
  Value* logits = fully_connected(b, root.child("head"), first, width, kVitClasses, kVitInit);
  b.output(logits, "output", DType::kFloat32, {b.batch(), kVitClasses});
  return b.finish();
}

}  // namespace assay
