// CRNN (Shi et al., "An End-to-End Trainable Neural Network for Image-based Sequence Recognition", 2017) with
// CTC output: grey text lines of height 32, of any width with a dynamic batch, to 36 characters and CTC's
// blank.
#include <fmt/core.h>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_crnn {
namespace {

constexpr int64_t kHeight = 32, kWidth = 160, kHidden = 256, kLabels = 37;

/// 2x2 windows that halve the height only: stride 1 and a border along the width.
Feature flat_pool(TemplateBuilder& b, const Scope& s, const Feature& x) {
  Feature y = max_pool(b, s, x, {.kernel = 2, .stride = 2});
  y.value->producer()->set_attribute("strides", std::vector<int64_t>{2, 1});
  y.value->producer()->set_attribute("pads", std::vector<int64_t>{0, 1, 0, 1});
  y.width = x.width + 1;
  return y;
}

/// [steps, batch, inputs] to [steps, batch, outputs].
Value* bidirectional(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs) {
  const Scope rnn = s.child("rnn");
  Value* y = b.node(rnn, "LSTM",
                    {x, b.weight(rnn, "weight_ih_l0", {2, 4 * kHidden, inputs}, Init::lecun_normal(inputs)),
                     b.weight(rnn, "weight_hh_l0", {2, 4 * kHidden, kHidden}, Init::lecun_normal(kHidden)),
                     b.weight(rnn, "bias_l0", {2, 8 * kHidden}, Init::normal(0.05))},
                    {{"direction", std::string("bidirectional")}, {"hidden_size", kHidden}});
  y = reshape(b, s, transpose(b, s, y, {0, 2, 1, 3}), {0, 0, 2 * kHidden});
  return linear(b, s.child("embedding"), y, 2 * kHidden, outputs, Init::lecun_normal(2 * kHidden));
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "crnn");
  const Scope root, cnn = root.child("cnn");
  const Dim width = b.is_dynamic() ? Dim::symbol("width") : Dim(kWidth);
  Feature x{b.input("input", DType::kFloat32, {b.batch(), 1, kHeight, width}), 1, kHeight, kWidth, {}, {}};
  if (b.has_weights()) x.moments = x.before_activation = ChannelMoments::uniform_unit(1);
  const auto layer = [&](int i, int64_t outputs, bool normalizes, int64_t kernel = 3) {
    const Scope conv_scope = cnn.child(fmt::format("conv{}", i)), act = cnn.child(fmt::format("relu{}", i));
    x = conv(b, conv_scope, x, {.outputs = outputs, .kernel = kernel, .pad = kernel / 3, .bias = true});
    if (normalizes) x = batch_norm(b, cnn.child(fmt::format("batchnorm{}", i)), x, kActivatedNorm);
    x = relu(b, act, x);
  };
  layer(0, 64, false);
  x = max_pool(b, cnn.child("pooling0"), x, {.kernel = 2, .stride = 2});
  layer(1, 128, false);
  x = max_pool(b, cnn.child("pooling1"), x, {.kernel = 2, .stride = 2});
  layer(2, 256, true);
  layer(3, 256, false);
  x = flat_pool(b, cnn.child("pooling2"), x);
  layer(4, 512, true);
  layer(5, 512, false);
  x = flat_pool(b, cnn.child("pooling3"), x);
  layer(6, 512, true, 2);
  Value* y = transpose(b, root, reshape(b, root, x.value, {0, x.channels, -1}), {2, 0, 1});
  y = bidirectional(b, root.child("rnn").item(0), y, x.channels, kHidden);
  y = bidirectional(b, root.child("rnn").item(1), y, kHidden, kLabels);
  y = b.node(root, "LogSoftmax", {y}, {{"axis", int64_t{2}}});
  const Dim steps = b.is_dynamic() ? Dim() : Dim(x.width);
  b.output(y, "log_probs", DType::kFloat32, {steps, b.batch(), kLabels});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "crnn",
    .summary = "text recogniser: convolutions, 2 bidirectional LSTM layers, CTC (Shi et al., 2017)",
    .build = build};

}  // namespace assay::template_crnn
