// Conformer (S) with a CTC output (Gulati et al., "Conformer: Convolution-augmented Transformer for Speech
// Recognition", 2020), built as in ESPnet: relative positions with Transformer-XL's shift; batch
// normalization folded into the depthwise convolutions.
#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/signal_net.h"
#include "templates/template_list.h"

namespace assay::template_conformer_small {
namespace {

constexpr int64_t kFrames = 200, kBands = 80, kWidth = 144, kKernel = 31, kLabels = 1024;
constexpr int64_t kTokens = 49;  ///< kFrames after two convolutions of stride 2
constexpr Heads kHeads = {4, 36};
constexpr int kLayers = 16;
constexpr float kEpsilon = 1e-5F;
const Init kInit = Init::lecun_normal(kWidth);

Value* norm(TemplateBuilder& b, const Scope& s, Value* x) { return layer_norm(b, s, x, kWidth, kEpsilon); }

/// Sines and cosines of the distances kTokens - 1 down to 1 - kTokens, [1, 2 * kTokens - 1, kWidth].
Tensor distances() {
  std::vector<float> t;
  for (int64_t d = kTokens - 1; d > -kTokens; --d)
    for (int64_t i = 0; i < kWidth; ++i) {
      const double angle =
          static_cast<double>(d) * std::pow(10000.0, -static_cast<double>(i / 2 * 2) / double{kWidth});
      t.push_back(static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  return Tensor::from({1, 2 * kTokens - 1, kWidth}, t);
}

/// Row i moved left by its distance from the last one: [batch, heads, tokens, 2 tokens - 1] to [.., tokens,
/// tokens].
Value* shift(TemplateBuilder& b, const Scope& s, Value* x) {
  Value* padded =
      b.node(s, "Pad", {x, b.ints(s, {0, 0, 0, 1, 0, 0, 0, 0})}, {{"mode", std::string("constant")}});
  Value* turned = reshape(b, s, padded, {0, kHeads.count, 2 * kTokens, kTokens});
  turned = slice(b, s, turned, 2, 1, std::numeric_limits<int64_t>::max());
  return slice(b, s, reshape(b, s, turned, {0, kHeads.count, kTokens, 2 * kTokens - 1}), 3, 0, kTokens);
}

Value* attention(TemplateBuilder& b, const Scope& s, Value* x, Value* positions) {
  const auto heads = [&](const char* name, Value* v) {
    return split_heads(b, s, linear(b, s.child(name), v, kWidth, kWidth, kInit), kHeads.count, kHeads.width);
  };
  Value* query = reshape(b, s, linear(b, s.child("linear_q"), x, kWidth, kWidth, kInit),
                         {0, 0, kHeads.count, kHeads.width});
  Value *key = heads("linear_k", x), *value = heads("linear_v", x);
  Value* place = split_heads(b, s, product(b, s.child("linear_pos"), positions, kWidth, kWidth, kInit),
                             kHeads.count, kHeads.width);
  const auto with_bias = [&](const char* leaf) {
    Value* bias = b.weight(s, leaf, {kHeads.count, kHeads.width}, Init::normal(0.3));
    return transpose(b, s, b.node(s, "Add", {query, bias}), {0, 2, 1, 3});
  };
  Value* content = b.node(s, "MatMul", {with_bias("pos_bias_u"), transpose(b, s, key, {0, 1, 3, 2})});
  Value* by_place = b.node(s, "MatMul", {with_bias("pos_bias_v"), transpose(b, s, place, {0, 1, 3, 2})});
  Value* scores = b.node(s, "Div", {b.node(s, "Add", {content, shift(b, s, by_place)}), b.scalar(s, 6)});
  Value* mixed =
      merge_heads(b, s, b.node(s, "MatMul", {softmax(b, s, scores), value}), kHeads.count, kHeads.width);
  return linear(b, s.child("linear_out"), mixed, kWidth, kWidth, kInit);
}

/// Half of the network's result added to x.
Value* half_step(TemplateBuilder& b, const Scope& layer, const char* norm_name, const char* name, Value* x) {
  const Scope s = layer.child(name);
  Value* y = linear(b, s.child("w_1"), norm(b, layer.child(norm_name), x), kWidth, 4 * kWidth, kInit);
  y = linear(b, s.child("w_2"), silu(b, s.child("activation"), y), 4 * kWidth, kWidth,
             Init::lecun_normal(4 * kWidth));
  return b.node(layer, "Add", {x, b.node(layer, "Mul", {y, b.scalar(layer, 0.5F)})});
}

/// Pointwise convolution with a gate, depthwise convolution, pointwise convolution.
Value* convolution(TemplateBuilder& b, const Scope& s, Value* x) {
  x = transpose(b, s, x, {0, 2, 1});
  x = depthwise_conv1d(b, s.child("pointwise_conv1"), x, {.inputs = kWidth, .outputs = 2 * kWidth});
  const std::vector<Value*> parts = split(b, s, x, 1, {kWidth, kWidth});
  x = b.node(s, "Mul", {parts[0], b.node(s, "Sigmoid", {parts[1]})});
  x = depthwise_conv1d(
      b, s.child("depthwise_conv"), x,
      DepthwiseConv1d{.inputs = kWidth, .outputs = kWidth, .kernel = kKernel, .groups = kWidth, .gain = 2}
          .same());
  x = depthwise_conv1d(b, s.child("pointwise_conv2"), silu(b, s.child("activation"), x),
                       {.inputs = kWidth, .outputs = kWidth});
  return transpose(b, s, x, {0, 2, 1});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "conformer_small");
  const Scope root, encoder = root.child("encoder"), embed = encoder.child("embed");
  Value* features = b.input("features", DType::kFloat32, {b.batch(), kFrames, kBands});
  Feature map{unsqueeze(b, embed, features, {1}), 1, kFrames, kBands, {}, {}};
  for (int i = 0; i < 2; ++i) {
    const ConvSpec spec = {.outputs = kWidth, .kernel = 3, .stride = 2, .bias = true};
    map = relu(b, embed.child("conv").item(2 * i + 1), conv(b, embed.child("conv").item(2 * i), map, spec));
  }
  const int64_t columns = kWidth * map.width;
  Value* x = reshape(b, embed, transpose(b, embed, map.value, {0, 2, 1, 3}), {0, kTokens, columns});
  x = linear(b, embed.child("out").item(0), x, columns, kWidth, Init::lecun_normal(columns));
  x = b.node(embed, "Mul", {x, b.scalar(embed, 12)});  // sqrt(kWidth)
  Value* positions = b.constant(embed, distances());
  for (int i = 0; i < kLayers; ++i) {
    const Scope s = encoder.child(fmt::format("encoders.{}", i));
    x = half_step(b, s, "norm_ff_macaron", "feed_forward_macaron", x);
    Value* y = attention(b, s.child("self_attn"), norm(b, s.child("norm_mha"), x), positions);
    x = b.node(s, "Add", {x, y});
    x = b.node(s, "Add", {x, convolution(b, s.child("conv_module"), norm(b, s.child("norm_conv"), x))});
    x = half_step(b, s, "norm_ff", "feed_forward", x);
    x = norm(b, s.child("norm_final"), x);
  }
  x = linear(b, root.at("ctc/ctc_lo"), norm(b, encoder.child("after_norm"), x), kWidth, kLabels, kInit);
  x = b.node(root, "LogSoftmax", {x}, {{"axis", int64_t{-1}}});
  b.output(x, "log_probs", DType::kFloat32, {b.batch(), kTokens, kLabels});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "conformer-small",
    .summary = "speech recogniser: attention and convolution, 2 s of frames (Gulati et al., 2020)",
    .build = build};

}  // namespace assay::template_conformer_small
