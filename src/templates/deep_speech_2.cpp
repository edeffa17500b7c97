#include "templates/deep_speech_2.h"

#include <fmt/core.h>

#include <cmath>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/signal_net.h"

namespace assay {
namespace deep_speech_2_parts {
namespace {

constexpr int64_t kFrames = 200, kFrequencies = 161, kHidden = 1024, kLabels = 29, kAhead = 20;
constexpr int kLayers = 5;

/// Batch normalization of [steps, batch, width], whose first two axes become one.
Value* sequence_norm(TemplateBuilder& b, const Scope& s, Value* x, int64_t width) {
  Value* shape = b.node(s, "Shape", {x});
  Value* rows = reshape(b, s, x, {-1, width});
  const Scope norm = s.child("module");
  Value* y = b.node(norm, "BatchNormalization",
                    {rows, b.weight(norm, "weight", {width}, Init::normal(0.1, 1.0)),
                     b.weight(norm, "bias", {width}, Init::normal(0.1)),
                     b.weight(norm, "running_mean", {width}, Init::normal(0.02)),
                     b.weight(norm, "running_var", {width}, Init::uniform(0.05, 0.2))},
                    {{"epsilon", 1e-5F}, {"momentum", 0.9F}});
  return b.node(s, "Reshape", {y, shape});
}

/// [steps, batch, inputs] to [steps, batch, kHidden].
Value* recurrent(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, DeepSpeechCell cell) {
  const bool is_lstm = cell == DeepSpeechCell::kBidirectionalLstm;
  const int64_t directions = is_lstm ? 2 : 1, gates = is_lstm ? 4 : 3;
  const Scope rnn = s.child("rnn");
  std::vector<Value*> values = {
      x, b.weight(rnn, "weight_ih_l0", {directions, gates * kHidden, inputs}, Init::lecun_normal(inputs)),
      b.weight(rnn, "weight_hh_l0", {directions, gates * kHidden, kHidden}, Init::lecun_normal(kHidden)),
      b.weight(rnn, "bias_l0", {directions, 2 * gates * kHidden}, Init::normal(0.05))};
  AttributeList attributes = {{"hidden_size", kHidden}};
  if (is_lstm) attributes.emplace_back("direction", std::string("bidirectional"));
  if (!is_lstm) attributes.emplace_back("linear_before_reset", int64_t{1});
  Value* y = b.node(rnn, is_lstm ? "LSTM" : "GRU", std::move(values), std::move(attributes));
  return is_lstm ? reduce(b, s, "ReduceSum", y, {1}, false) : reshape(b, s, y, {0, -1, kHidden});
}

/// Each channel's weighted sum of this step and later ones.
Value* look_ahead(TemplateBuilder& b, const Scope& s, Value* x) {
  Value* y = transpose(b, s, x, {1, 2, 0});
  y = b.node(s, "Pad", {y, b.ints(s, {0, 0, 0, 0, 0, kAhead - 1})}, {{"mode", std::string("constant")}});
  y = depthwise_conv1d(
      b, s.child("conv"), y,
      {.inputs = kHidden, .outputs = kHidden, .kernel = kAhead, .groups = kHidden, .bias = false, .gain = 4});
  return transpose(b, s, y, {2, 0, 1});
}

std::shared_ptr<Model> build(const TemplateOptions& options, std::string name, DeepSpeechCell cell) {
  TemplateBuilder b(options, std::move(name));
  const Scope root, convs = root.at("conv/seq_module");
  Feature x = image_input(b, "spectrogram", 1, kFrequencies, kFrames);
  const ConvSpec specs[] = {
      {.outputs = 32, .kernel = 41, .stride = 2, .pad = 20, .bias = true, .kernel_width = 11, .pad_width = 5},
      {.outputs = 32,
       .kernel = 21,
       .stride = 2,
       .pad = 10,
       .bias = true,
       .kernel_width = 11,
       .stride_width = 1,
       .pad_width = 5}};
  for (int i = 0; i < 2; ++i) {
    x = batch_norm(b, convs.item(3 * i + 1), conv(b, convs.item(3 * i), x, specs[i]), kActivatedNorm);
    x = activate(b, convs.item(3 * i + 2), x, Nonlinearity::kClip20);
  }
  const int64_t steps = x.width;
  int64_t width = x.channels * x.height;
  Value* y = transpose(b, root, reshape(b, root, x.value, {0, width, steps}), {2, 0, 1});
  for (int i = 0; i < kLayers; ++i) {
    const Scope s = root.child(fmt::format("rnns.{}", i));
    if (i > 0) y = sequence_norm(b, s.child("batch_norm"), y, width);
    y = recurrent(b, s, y, width, cell);
    width = kHidden;
  }
  if (cell == DeepSpeechCell::kGru) {
    const Scope ahead = root.child("lookahead");
    y = look_ahead(b, ahead.item(0), y);
    y = b.node(ahead.item(1), "Clip", {y, b.scalar(ahead, 0), b.scalar(ahead, 20)});
  }
  const Scope fc = root.child("fc");
  y = product(b, fc.item(1), sequence_norm(b, fc.item(0), y, kHidden), kHidden, kLabels,
              Init::lecun_normal(kHidden));
  y = softmax(b, root.child("inference_softmax"), transpose(b, root, y, {1, 0, 2}));
  b.output(y, "output", DType::kFloat32, {b.batch(), steps, kLabels});
  return b.finish();
}

}  // namespace
}  // namespace deep_speech_2_parts

std::shared_ptr<Model> build_deep_speech_2(const TemplateOptions& options, std::string name,
                                           DeepSpeechCell cell) {
  return deep_speech_2_parts::build(options, std::move(name), cell);
}

}  // namespace assay
