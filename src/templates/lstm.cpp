// A bidirectional LSTM acoustic model (after Graves et al., "Speech Recognition with Deep Recurrent Neural
// Networks", 2013, without peepholes): 64 frames of 80 log-mel energies to log-probabilities of 28 characters
// and CTC's blank.
#include <fmt/core.h>

#include <cmath>

#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_lstm {
namespace {

constexpr int64_t kFrames = 64;
constexpr int64_t kBands = 80;
constexpr int64_t kHidden = 512;
constexpr int64_t kLabels = 29;
constexpr int kLayers = 2;

/// Biases of the input and recurrent products, [directions, 8 * hidden], gates in ONNX's order i, o, f, c.
/// Those of the forget gate are 1 together, so that memory lasts from the start (Jozefowicz et al., 2015).
Tensor biases(const TemplateBuilder& b, const Scope& s, const std::string& leaf) {
  Tensor t = b.draw(s, leaf, {2, 8 * kHidden}, Init::normal(0.05));
  if (!b.has_weights()) return t;
  float* data = t.mutable_data<float>();
  for (int64_t direction = 0; direction < 2; ++direction)
    for (int64_t i = 0; i < kHidden; ++i) data[direction * 8 * kHidden + 2 * kHidden + i] += 1.0F;
  return t;
}

/// [frames, batch, inputs] to [frames, batch, 2 * hidden].
Value* bidirectional_layer(TemplateBuilder& b, const Scope& s, Value* x, int layer, int64_t inputs) {
  const auto leaf = [&](const char* kind) { return fmt::format("{}_l{}", kind, layer); };
  const Init recurrent = Init::normal(1 / std::sqrt(static_cast<double>(kHidden)));
  const Init input = Init::lecun_normal(inputs);
  Value* w = b.weight(s, leaf("weight_ih"), {2, 4 * kHidden, inputs}, input);
  Value* r = b.weight(s, leaf("weight_hh"), {2, 4 * kHidden, kHidden}, recurrent);
  Value* bias = b.add_weight(s, leaf("bias"), biases(b, s, leaf("bias")));
  Value* y = b.node(s, "LSTM", {x, w, r, bias},
                    {{"direction", std::string("bidirectional")}, {"hidden_size", kHidden}});
  return reshape(b, s, transpose(b, s, y, {0, 2, 1, 3}), {0, 0, 2 * kHidden});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "lstm");
  const Scope root, rnn = root.child("rnn");
  Value* x = b.input("features", DType::kFloat32, {b.batch(), kFrames, kBands});
  x = transpose(b, rnn, x, {1, 0, 2});
  for (int i = 0; i < kLayers; ++i) x = bidirectional_layer(b, rnn, x, i, i == 0 ? kBands : 2 * kHidden);
  x = transpose(b, rnn, x, {1, 0, 2});
  x = linear(b, root.child("fc"), x, 2 * kHidden, kLabels, Init::xavier_uniform(2 * kHidden, kLabels));
  x = b.node(root, "LogSoftmax", {x}, {{"axis", int64_t{-1}}});
  b.output(x, "log_probs", DType::kFloat32, {b.batch(), kFrames, kLabels});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "lstm",
    .summary = "acoustic model: 2 bidirectional LSTM layers of 512, 64 frames (after Graves et al., 2013)",
    .build = build};

}  // namespace assay::template_lstm
