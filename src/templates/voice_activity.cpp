// A voice activity detector in the form of Silero VAD, version 5 (Silero Team, 2021 to 2024): the sampling
// rate chooses between two networks inside an If, each with its Fourier transform as a convolution, four
// convolutions and an LSTM cell whose state is an input and output. The widths are those of its published
// file; its weights are not.
#include <fmt/core.h>

#include <cmath>

#include "templates/layers.h"
#include "templates/signal_net.h"
#include "templates/template_list.h"

namespace assay::template_voice_activity {
namespace {

constexpr int64_t kSamples = 576, kHidden = 128;  ///< 512 samples of 16 kHz and the 64 before them

/// Real parts over imaginary parts of the transform of a window: [window + 2, 1, window], a Hann window in
/// it.
Tensor fourier_basis(int64_t window) {
  constexpr double kTurn = 6.283185307179586;
  std::vector<float> t;
  const int64_t bins = window / 2 + 1;
  for (int64_t row = 0; row < 2 * bins; ++row)
    for (int64_t i = 0; i < window; ++i) {
      const double place = static_cast<double>(i) / static_cast<double>(window);
      const double angle = kTurn * static_cast<double>(row % bins) * place;
      const double hann = 0.5 - 0.5 * std::cos(kTurn * place);
      t.push_back(static_cast<float>(hann * (row < bins ? std::cos(angle) : -std::sin(angle))));
    }
  return Tensor::from({2 * bins, 1, window}, t);
}

/// Magnitudes of the frequencies, [batch, window / 2 + 1, frames].
Value* spectrum(TemplateBuilder& b, const Scope& s, Value* samples, int64_t window) {
  Value* x = unsqueeze(b, s, samples, {1});
  x = b.node(s, "Pad", {x, b.ints(s, {0, 0, 0, 0, 0, window / 4})}, {{"mode", std::string("reflect")}});
  x = b.node(s, "Conv", {x, b.constant(s, fourier_basis(window))},
             {{"kernel_shape", std::vector<int64_t>{window}}, {"strides", std::vector<int64_t>{window / 2}}});
  const int64_t bins = window / 2 + 1;
  const auto squared = [&](int64_t first) {
    return b.node(s, "Pow", {slice(b, s, x, 1, first, first + bins), b.scalar(s, 2)});
  };
  return b.node(s, "Sqrt", {b.node(s, "Add", {squared(0), squared(bins)})});
}

/// One network as a branch of the If: outputs probability and states.
void network(TemplateBuilder& b, const Scope& s, Value* samples, Value* state, int64_t window) {
  Value* x = spectrum(b, s.child("stft"), samples, window);
  struct Layer {
    int64_t inputs, outputs, stride;
  };
  int index = 0;
  for (const Layer& l :
       {Layer{window / 2 + 1, 128, 1}, Layer{128, 64, 2}, Layer{64, 64, 2}, Layer{64, 128, 1}}) {
    const Scope layer = s.child(fmt::format("encoder.{}", index++));
    x = depthwise_conv1d(
        b, layer.child("reparam_conv"), x,
        {.inputs = l.inputs, .outputs = l.outputs, .kernel = 3, .stride = l.stride, .pad = 1, .gain = 1.4});
    x = b.node(layer.child("activation"), "Relu", {x});
  }
  const Scope decoder = s.child("decoder");
  // 16 kHz samples lead to one frame; others to more.
  x = reshape(b, decoder, reduce(b, decoder, "ReduceMean", x, {2}), {0, kHidden});
  const CellState next =
      lstm_cell(b, decoder.child("rnn"), x, {pick(b, decoder, state, 0, 0), pick(b, decoder, state, 0, 1)},
                kHidden, kHidden);
  Value* y = b.node(decoder, "Relu", {unsqueeze(b, decoder, next.hidden, {2})});
  y = depthwise_conv1d(b, decoder.child("decoder").item(2), y, {.inputs = kHidden, .outputs = 1, .gain = 2});
  y = b.node(decoder, "Sigmoid", {reshape(b, decoder, y, {0, 1})});
  Value* states =
      concat(b, decoder, {unsqueeze(b, decoder, next.hidden, {0}), unsqueeze(b, decoder, next.cell, {0})}, 0);
  b.output(y, s.path() + "/probability", DType::kFloat32, {b.batch(), 1});
  b.output(states, s.path() + "/state", DType::kFloat32, {2, b.batch(), kHidden});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "voice_activity");
  const Scope root;
  Value* samples = b.input("input", DType::kFloat32, {b.batch(), kSamples});
  Value* state = b.input("state", DType::kFloat32, {2, b.batch(), kHidden});
  Value* rate = b.input("sr", DType::kInt64, Dims{});
  Value* is_slow = b.node(root, "Equal", {rate, b.constant(root, Tensor::scalar(int64_t{8000}))});
  const auto slow = b.body("model_8k", [&] { network(b, root.child("_model_8k"), samples, state, 128); });
  const auto fast = b.body("model_16k", [&] { network(b, root.child("_model"), samples, state, 256); });
  const std::vector<Value*> y =
      b.node_with_outputs(root, "If", {is_slow}, {{"then_branch", slow}, {"else_branch", fast}}, 2);
  b.output(y[0], "output", DType::kFloat32, {b.batch(), 1});
  b.output(y[1], "stateN", DType::kFloat32, {2, b.batch(), kHidden});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "voice-activity",
    .summary = "voice activity detector with states, two networks inside an If (after Silero VAD)",
    .has_batch_first = false,
    .build = build};

}  // namespace assay::template_voice_activity
