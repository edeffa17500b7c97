// ViT-B/16 (Dosovitskiy et al., "An Image is Worth 16x16 Words", 2021), named as in timm's
// vit_base_patch16_224.
#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_vit_b_16 {
namespace {

constexpr int64_t kWidth = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int kLayers = 12;
constexpr int64_t kPatch = 16;
constexpr int64_t kPatches = (224 / kPatch) * (224 / kPatch);
constexpr int64_t kClasses = 1000;
constexpr float kEpsilon = 1e-6F;
constexpr Init kInit = Init::truncated_normal(0.02);

/// The class token once per image.
Value* class_tokens(TemplateBuilder& b, const Scope& root, Value* images) {
  Value* token = b.weight(root, "cls_token", {1, 1, kWidth}, kInit);
  if (!b.is_dynamic()) {
    if (b.batch().value() == 1) return token;
    return b.node(root, "Expand", {token, b.ints(root, {b.batch().value(), 1, kWidth})});
  }
  Value* shape = b.node(root, "Shape", {images});
  Value* batch = b.node(root, "Gather", {shape, b.ints(root, {0})}, {{"axis", int64_t{0}}});
  Value* target = b.node(root, "Concat", {batch, b.ints(root, {1, kWidth})}, {{"axis", int64_t{0}}});
  return b.node(root, "Expand", {token, target});
}

/// [batch, tokens, kWidth]: patches, the class token before them, positions added.
Value* embed(TemplateBuilder& b, const Scope& root, const Feature& image) {
  const Scope patch = root.child("patch_embed");
  const ConvSpec spec = {.outputs = kWidth, .kernel = kPatch, .stride = kPatch, .bias = true};
  const Init init = Init::lecun_normal(image.channels * kPatch * kPatch);
  const Feature patches = conv(b, patch.child("proj"), image, spec, init, Init::normal(0.02));
  Value* x = transpose(b, patch, reshape(b, patch, patches.value, {0, kWidth, kPatches}), {0, 2, 1});
  x = b.node(root, "Concat", {class_tokens(b, root, image.value), x}, {{"axis", int64_t{1}}});
  return b.node(root, "Add", {x, b.weight(root, "pos_embed", {1, kPatches + 1, kWidth}, kInit)});
}

Value* attention(TemplateBuilder& b, const Scope& s, Value* x) {
  Value* qkv = linear(b, s.child("qkv"), x, kWidth, 3 * kWidth, kInit);
  qkv = transpose(b, s, reshape(b, s, qkv, {0, 0, 3, kHeads, kHeadWidth}), {2, 0, 3, 1, 4});
  const auto part = [&](int64_t i) {
    return b.node(s, "Gather", {qkv, b.constant(s, Tensor::scalar(i))}, {{"axis", int64_t{0}}});
  };
  Value* query = b.node(s, "Mul", {part(0), b.scalar(s, 0.125F)});  // 1 / sqrt(kHeadWidth)
  Value* key = transpose(b, s, part(1), {0, 1, 3, 2});
  Value* value = part(2);
  Value* weights = softmax(b, s, b.node(s, "MatMul", {query, key}));
  Value* mixed = merge_heads(b, s, b.node(s, "MatMul", {weights, value}), kHeads, kHeadWidth);
  return linear(b, s.child("proj"), mixed, kWidth, kWidth, kInit);
}

Value* mlp(TemplateBuilder& b, const Scope& s, Value* x) {
  x = linear(b, s.child("fc1"), x, kWidth, 4 * kWidth, kInit);
  x = gelu(b, s.child("act"), x);
  return linear(b, s.child("fc2"), x, 4 * kWidth, kWidth, kInit);
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "vit_b_16");
  const Scope root;
  Value* x = embed(b, root, image_input(b, "input", 3, 224, 224));
  for (int i = 0; i < kLayers; ++i) {
    const Scope block = root.child("blocks").item(i);
    Value* attended =
        attention(b, block.child("attn"), layer_norm(b, block.child("norm1"), x, kWidth, kEpsilon));
    x = b.node(block, "Add", {x, attended});
    Value* changed = mlp(b, block.child("mlp"), layer_norm(b, block.child("norm2"), x, kWidth, kEpsilon));
    x = b.node(block, "Add", {x, changed});
  }
  x = layer_norm(b, root.child("norm"), x, kWidth, kEpsilon);
  Value* first =
      b.node(root, "Gather", {x, b.constant(root, Tensor::scalar(int64_t{0}))}, {{"axis", int64_t{1}}});
  Value* logits = fully_connected(b, root.child("head"), first, kWidth, kClasses, kInit);
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "vit-b-16",
    .summary = "image classifier: vision transformer (Dosovitskiy et al., 2021)",
    .build = build};

}  // namespace assay::template_vit_b_16
