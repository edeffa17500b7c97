// VITS (Kim et al., "Conditional Variational Autoencoder with Adversarial Learning for End-to-End
// Text-to-Speech", 2021) for synthesis, in the sizes of Piper's medium voices (Rhasspy, 2023) with the
// deterministic duration predictor: text encoder, durations that determine the number of frames, flow,
// HiFi-GAN. Without noise and without the text encoder's relative positions, so that results do not depend on
// a random generator.
#include <fmt/core.h>

#include <limits>

#include "templates/hifi_gan.h"
#include "templates/layers.h"
#include "templates/signal_net.h"
#include "templates/template_list.h"

namespace assay::template_vits {
namespace {

constexpr int64_t kSymbols = 256, kTokens = 48, kWidth = 192, kInner = 768, kHalf = kWidth / 2;
constexpr Heads kHeads = {2, 96};
constexpr int kLayers = 6, kCouplings = 4, kWaveLayers = 4;

/// Layer normalization over the channels of [batch, channels, tokens].
Value* channel_norm(TemplateBuilder& b, const Scope& s, Value* x, int64_t width) {
  return transpose(b, s, layer_norm(b, s, transpose(b, s, x, {0, 2, 1}), width, 1e-5F), {0, 2, 1});
}

Value* pointwise(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs,
                 double gain = 1) {
  return depthwise_conv1d(b, s, x, {.inputs = inputs, .outputs = outputs, .gain = gain});
}

/// [batch, kWidth, tokens]
Value* text_encoder(TemplateBuilder& b, const Scope& s, Value* ids) {
  const Scope embed = s.child("emb");
  Value* x = b.node(embed, "Gather", {b.weight(embed, "weight", {kSymbols, kWidth}, Init::normal(0.07)), ids},
                    {{"axis", int64_t{0}}});
  x = transpose(b, s, b.node(s, "Mul", {x, b.scalar(s, 13.856406F)}), {0, 2, 1});  // sqrt(kWidth)
  const Scope encoder = s.child("encoder");
  for (int i = 0; i < kLayers; ++i) {
    const Scope attention = encoder.child(fmt::format("attn_layers.{}", i)),
                network = encoder.child(fmt::format("ffn_layers.{}", i));
    const auto heads = [&](const char* name) {
      Value* y = reshape(b, attention, pointwise(b, attention.child(name), x, kWidth, kWidth),
                         {0, kHeads.count, kHeads.width, -1});
      return transpose(b, attention, y, {0, 1, 3, 2});
    };
    // One by one: compilers do not agree on the order of a call's arguments, by which the weights are drawn.
    Value* value = heads("conv_v");
    Value* key = heads("conv_k");
    Value* query = heads("conv_q");
    Value* mixed = transpose(b, attention, attend(b, attention, kHeads, query, key, value), {0, 2, 1});
    Value* y = b.node(encoder, "Add", {x, pointwise(b, attention.child("conv_o"), mixed, kWidth, kWidth)});
    x = channel_norm(b, encoder.child(fmt::format("norm_layers_1.{}", i)), y, kWidth);
    y = depthwise_conv1d(
        b, network.child("conv_1"), x,
        DepthwiseConv1d{.inputs = kWidth, .outputs = kInner, .kernel = 3, .gain = 1.4}.same());
    y = depthwise_conv1d(b, network.child("conv_2"), b.node(network, "Relu", {y}),
                         DepthwiseConv1d{.inputs = kInner, .outputs = kWidth, .kernel = 3}.same());
    x = channel_norm(b, encoder.child(fmt::format("norm_layers_2.{}", i)), b.node(encoder, "Add", {x, y}),
                     kWidth);
  }
  return x;
}

/// Frames of each token, [batch, 1, tokens], whole numbers.
Value* durations(TemplateBuilder& b, const Scope& s, Value* x) {
  constexpr int64_t kFilters = 256;
  int64_t inputs = kWidth;
  for (const char* index : {"1", "2"}) {
    x = depthwise_conv1d(
        b, s.child(fmt::format("conv_{}", index)), x,
        DepthwiseConv1d{.inputs = inputs, .outputs = kFilters, .kernel = 3, .gain = 1.4}.same());
    x = channel_norm(b, s.child(fmt::format("norm_{}", index)), b.node(s, "Relu", {x}), kFilters);
    inputs = kFilters;
  }
  Value* logarithm =
      b.node(s, "Add", {pointwise(b, s.child("proj"), x, kFilters, 1, 0.4), b.scalar(s, 0.6F)});
  return b.node(s, "Ceil", {b.node(s, "Exp", {logarithm})});
}

/// 1 where a frame belongs to a token: [batch, frames, tokens].
Value* alignment(TemplateBuilder& b, const Scope& s, Value* frames) {
  const auto cast = [&](Value* v, DType to) {
    return b.node(s, "Cast", {v}, {{"to", static_cast<int64_t>(to)}});
  };
  Value* ends = b.node(s, "CumSum", {frames, b.constant(s, Tensor::scalar(int64_t{2}))});
  Value* longest = reshape(b, s, b.node(s, "ReduceMax", {ends}, {{"keepdims", int64_t{0}}}), {-1});
  Value* count = b.node(s, "Squeeze", {cast(longest, DType::kInt64)});
  const auto number = [&](int64_t n) { return b.constant(s, Tensor::scalar(n)); };
  Value* range = cast(b.node(s, "Range", {number(0), count, number(1)}), DType::kFloat32);
  Value* column = unsqueeze(b, s, range, {0, 2});
  const auto before = [&](Value* limit) { return cast(b.node(s, "Less", {column, limit}), DType::kFloat32); };
  return b.node(s, "Sub", {before(ends), before(b.node(s, "Sub", {ends, frames}))});
}

/// WaveNet's layers: dilated convolutions whose halves are tanh and gate, and sums of their skip connections.
Value* wave_net(TemplateBuilder& b, const Scope& s, Value* x) {
  Value* sum = nullptr;
  for (int i = 0; i < kWaveLayers; ++i) {
    Value* y = depthwise_conv1d(b, s.child(fmt::format("in_layers.{}", i)), x,
                                DepthwiseConv1d{.inputs = kWidth, .outputs = 2 * kWidth, .kernel = 5}.same());
    const std::vector<Value*> halves = split(b, s, y, 1, {kWidth, kWidth});
    y = b.node(s, "Mul", {b.node(s, "Tanh", {halves[0]}), b.node(s, "Sigmoid", {halves[1]})});
    const bool is_last = i + 1 == kWaveLayers;
    y = pointwise(b, s.child(fmt::format("res_skip_layers.{}", i)), y, kWidth, is_last ? kWidth : 2 * kWidth,
                  1.5);
    if (!is_last) {
      const std::vector<Value*> parts = split(b, s, y, 1, {kWidth, kWidth});
      x = b.node(s, "Add", {x, parts[0]});
      y = parts[1];
    }
    sum = sum == nullptr ? y : b.node(s, "Add", {sum, y});
  }
  return sum;
}

/// The inverse flow: each coupling reverses the channels
/// and subtracts from one half a function of the other.
Value* flow(TemplateBuilder& b, const Scope& s, Value* x) {
  for (int i = kCouplings - 1; i >= 0; --i) {
    const Scope coupling = s.child(fmt::format("flows.{}", 2 * i)),
                flip = s.child(fmt::format("flows.{}", 2 * i + 1));
    x = b.node(flip, "Slice",
               {x, b.ints(flip, {-1}), b.ints(flip, {std::numeric_limits<int64_t>::min()}), b.ints(flip, {1}),
                b.ints(flip, {-1})});
    const std::vector<Value*> halves = split(b, coupling, x, 1, {kHalf, kHalf});
    Value* y =
        wave_net(b, coupling.child("enc"), pointwise(b, coupling.child("pre"), halves[0], kHalf, kWidth));
    y = pointwise(b, coupling.child("post"), y, kWidth, kHalf, 0.3);
    x = concat(b, coupling, {halves[0], b.node(coupling, "Sub", {halves[1], y})}, 1);
  }
  return x;
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "vits");
  const Scope root, encoder = root.child("enc_p");
  const Dim tokens = b.is_dynamic() ? Dim::symbol("phonemes") : Dim(kTokens);
  Value* ids = b.input("input", DType::kInt64, {b.batch(), tokens});
  Value* x = text_encoder(b, encoder, ids);
  Value* statistics = pointwise(b, encoder.child("proj"), x, kWidth, 2 * kWidth);
  Value* means = slice(b, encoder, statistics, 1, 0, kWidth);
  Value* path = alignment(b, root, durations(b, root.child("dp"), x));
  Value* frames =
      transpose(b, root, b.node(root, "MatMul", {path, transpose(b, root, means, {0, 2, 1})}), {0, 2, 1});
  const HifiGanSpec vocoder = {.inputs = kWidth,
                               .channels = 256,
                               .upsampling = {{8, 16}, {8, 16}, {4, 8}},
                               .blocks = {{3, {1, 2}}, {5, {2, 6}}, {7, {3, 12}}},
                               .has_second_convs = false};
  Value* audio = hifi_gan(b, root.child("dec"), flow(b, root.child("flow"), frames), vocoder);
  b.output(audio, "output", DType::kFloat32, {b.batch(), 1, Dim()});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "vits",
    .summary = "speech synthesis: durations decide the length, flow, vocoder (Kim et al., 2021)",
    .min_opset = 13,
    .is_data_dependent = true,
    .build = build};

}  // namespace assay::template_vits
