// Swin-T (Liu et al., "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", 2021), named
// as in the authors' code: windows of 7x7, shifted by torch.roll, which is exported as Slice and Concat.
#include <fmt/core.h>

#include <limits>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_swin_tiny {
namespace {

constexpr int64_t kWindow = 7, kTokens = kWindow * kWindow, kHeadWidth = 32, kClasses = 1000;
constexpr int64_t kBiases = (2 * kWindow - 1) * (2 * kWindow - 1);
constexpr int kDepths[] = {2, 2, 6, 2};
constexpr float kEpsilon = 1e-5F;

struct Block {
  int64_t extent, width, shift;  ///< of the map and of its windows
};

/// x[shift:] before x[:shift] along both axes of a map [batch, height, width, channels].
Value* roll(TemplateBuilder& b, const Scope& s, Value* x, int64_t shift) {
  for (const int64_t axis : {1, 2})
    x = concat(
        b, s,
        {slice(b, s, x, axis, shift, std::numeric_limits<int64_t>::max()), slice(b, s, x, axis, 0, shift)},
        axis);
  return x;
}

/// The row of the bias table for each pair of tokens in a window, [kTokens * kTokens].
std::vector<int64_t> relative_positions() {
  std::vector<int64_t> index;
  for (int64_t i = 0; i < kTokens; ++i)
    for (int64_t j = 0; j < kTokens; ++j) {
      const int64_t dy = i / kWindow - j / kWindow + kWindow - 1,
                    dx = i % kWindow - j % kWindow + kWindow - 1;
      index.push_back(dy * (2 * kWindow - 1) + dx);
    }
  return index;
}

/// -100 for two tokens of a window that were not neighbours before the shift, else 0: [windows, 1, tokens,
/// tokens].
Tensor shift_mask(const Block& block) {
  const int64_t side = block.extent / kWindow;
  const auto region = [&](int64_t at) {
    return at < block.extent - kWindow ? 0 : at < block.extent - block.shift ? 1 : 2;
  };
  std::vector<float> mask;
  for (int64_t window = 0; window < side * side; ++window) {
    const auto place = [&](int64_t token) {
      return 3 * region(window / side * kWindow + token / kWindow) +
             region(window % side * kWindow + token % kWindow);
    };
    for (int64_t i = 0; i < kTokens; ++i)
      for (int64_t j = 0; j < kTokens; ++j) mask.push_back(place(i) == place(j) ? 0.0F : -100.0F);
  }
  return Tensor::from({side * side, 1, kTokens, kTokens}, mask);
}

/// Attention inside windows, [batch * windows, tokens, width].
Value* attention(TemplateBuilder& b, const Scope& s, Value* x, const Block& block) {
  const int64_t heads = block.width / kHeadWidth,
                windows = (block.extent / kWindow) * (block.extent / kWindow);
  const Init init = Init::lecun_normal(block.width);
  Value* qkv = linear(b, s.child("qkv"), x, block.width, 3 * block.width, init);
  qkv = transpose(b, s, reshape(b, s, qkv, {-1, kTokens, 3, heads, kHeadWidth}), {2, 0, 3, 1, 4});
  Value* query = b.node(s, "Mul", {pick(b, s, qkv, 0, 0), b.scalar(s, 0.17677669F)});  // 1 / sqrt(kHeadWidth)
  Value* scores = b.node(s, "MatMul", {query, transpose(b, s, pick(b, s, qkv, 0, 1), {0, 1, 3, 2})});
  Value* table = b.weight(s, "relative_position_bias_table", {kBiases, heads}, Init::truncated_normal(0.5));
  Value* bias = b.node(s, "Gather", {table, b.ints(s, relative_positions())}, {{"axis", int64_t{0}}});
  bias = transpose(b, s, reshape(b, s, bias, {kTokens, kTokens, -1}), {2, 0, 1});
  scores = b.node(s, "Add", {scores, unsqueeze(b, s, bias, {0})});
  if (block.shift > 0) {
    scores = reshape(b, s, scores, {-1, windows, heads, kTokens, kTokens});
    scores = b.node(s, "Add", {scores, unsqueeze(b, s, b.constant(s, shift_mask(block)), {0})});
    scores = reshape(b, s, scores, {-1, heads, kTokens, kTokens});
  }
  Value* mixed = b.node(s, "MatMul", {softmax(b, s, scores), pick(b, s, qkv, 0, 2)});
  mixed = reshape(b, s, transpose(b, s, mixed, {0, 2, 1, 3}), {-1, kTokens, block.width});
  return linear(b, s.child("proj"), mixed, block.width, block.width, init);
}

/// One block on tokens [batch, extent * extent, width].
Value* swin_block(TemplateBuilder& b, const Scope& s, Value* x, const Block& block) {
  const int64_t side = block.extent / kWindow, width = block.width;
  const auto norm = [&](const char* name, Value* v) {
    return layer_norm(b, s.child(name), v, width, kEpsilon);
  };
  Value* y = reshape(b, s, norm("norm1", x), {-1, block.extent, block.extent, width});
  if (block.shift > 0) y = roll(b, s, y, block.shift);
  y = transpose(b, s, reshape(b, s, y, {-1, side, kWindow, side, kWindow, width}), {0, 1, 3, 2, 4, 5});
  y = attention(b, s.child("attn"), reshape(b, s, y, {-1, kTokens, width}), block);
  y = transpose(b, s, reshape(b, s, y, {-1, side, side, kWindow, kWindow, width}), {0, 1, 3, 2, 4, 5});
  y = reshape(b, s, y, {-1, block.extent, block.extent, width});
  if (block.shift > 0) y = roll(b, s, y, block.extent - block.shift);
  x = b.node(s, "Add", {x, reshape(b, s, y, {-1, block.extent * block.extent, width})});
  const Scope mlp = s.child("mlp");
  y = linear(b, mlp.child("fc1"), norm("norm2", x), width, 4 * width, Init::lecun_normal(width));
  y = linear(b, mlp.child("fc2"), gelu(b, mlp.child("act"), y), 4 * width, width,
             Init::lecun_normal(4 * width));
  return b.node(s, "Add", {x, y});
}

/// Four neighbours as one token of twice the width.
Value* merge(TemplateBuilder& b, const Scope& s, Value* x, int64_t extent, int64_t width) {
  x = reshape(b, s, x, {-1, extent, extent, width});
  const auto every_second = [&](int64_t row, int64_t column) {
    Value* y = b.node(s, "Slice",
                      {x, b.ints(s, {row}), b.ints(s, {std::numeric_limits<int64_t>::max()}), b.ints(s, {1}),
                       b.ints(s, {2})});
    return b.node(s, "Slice",
                  {y, b.ints(s, {column}), b.ints(s, {std::numeric_limits<int64_t>::max()}), b.ints(s, {2}),
                   b.ints(s, {2})});
  };
  x = concat(b, s, {every_second(0, 0), every_second(1, 0), every_second(0, 1), every_second(1, 1)}, -1);
  x = layer_norm(b, s.child("norm"), reshape(b, s, x, {-1, extent * extent / 4, 4 * width}), 4 * width,
                 kEpsilon);
  return product(b, s.child("reduction"), x, 4 * width, 2 * width, Init::lecun_normal(4 * width));
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "swin_tiny");
  const Scope root, patch = root.child("patch_embed");
  int64_t width = 96, extent = 56;
  const ConvSpec spec = {.outputs = width, .kernel = 4, .stride = 4, .bias = true};
  const Feature patches = conv(b, patch.child("proj"), image_input(b, "input", 3, 224, 224), spec,
                               Init::lecun_normal(48), Init::normal(0.02));
  Value* x = transpose(b, patch, reshape(b, patch, patches.value, {-1, width, extent * extent}), {0, 2, 1});
  x = layer_norm(b, patch.child("norm"), x, width, kEpsilon);
  for (int stage = 0; stage < 4; ++stage) {
    const Scope layer = root.child(fmt::format("layers.{}", stage));
    for (int i = 0; i < kDepths[stage]; ++i) {
      const int64_t shift = i % 2 == 1 && extent > kWindow ? kWindow / 2 : 0;
      x = swin_block(b, layer.child(fmt::format("blocks.{}", i)), x, {extent, width, shift});
    }
    if (stage == 3) break;
    x = merge(b, layer.child("downsample"), x, extent, width);
    extent /= 2;
    width *= 2;
  }
  x = layer_norm(b, root.child("norm"), x, width, kEpsilon);
  x = b.node(root.child("avgpool"), "GlobalAveragePool", {transpose(b, root, x, {0, 2, 1})});
  x = b.node(root, "Flatten", {x}, {{"axis", int64_t{1}}});
  x = fully_connected(b, root.child("head"), x, width, kClasses, Init::lecun_normal(width));
  b.output(x, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "swin-tiny",
    .summary = "image classifier: attention in shifted windows (Liu et al., 2021)",
    .build = build};

}  // namespace assay::template_swin_tiny
