// A temporal convolutional network (Bai et al., "An Empirical Evaluation of Generic Convolutional and
// Recurrent Networks for Sequence Modeling", 2018) as the authors' character-level model of the Penn
// Treebank: causal dilated convolutions, made by padding on both sides and cutting off the end; 400
// characters.
#include <fmt/core.h>

#include "templates/layers.h"
#include "templates/signal_net.h"
#include "templates/template_list.h"

namespace assay::template_tcn {
namespace {

constexpr int64_t kCharacters = 50, kEmbedding = 100, kSequence = 400, kKernel = 3;
constexpr int64_t kWidths[] = {450, 450, kEmbedding};

/// Convolution, cropped to the length of x, ReLU.
Value* causal(TemplateBuilder& b, const Scope& s, int index, Value* x, DepthwiseConv1d spec) {
  spec.pad = (spec.kernel - 1) * spec.dilation;
  spec.gain = 1.4;
  x = depthwise_conv1d(b, s.child(fmt::format("conv{}", index)), x, spec);
  x = slice(b, s.child(fmt::format("chomp{}", index)), x, 2, 0, -spec.pad);
  return b.node(s.child(fmt::format("relu{}", index)), "Relu", {x});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "tcn");
  const Scope root, encoder = root.child("encoder"), network = root.at("tcn/network");
  Value* ids = b.input("input", DType::kInt64, {b.batch(), kSequence});
  Value* table = b.weight(encoder, "weight", {kCharacters, kEmbedding}, Init::normal(0.3));
  Value* x = b.node(encoder, "Gather", {table, ids}, {{"axis", int64_t{0}}});
  x = transpose(b, root, x, {0, 2, 1});
  int64_t inputs = kEmbedding;
  for (int level = 0; level < 3; ++level) {
    const Scope s = network.child(fmt::format("network.{}", level));
    const int64_t outputs = kWidths[level], dilation = int64_t{1} << level;
    Value* y =
        causal(b, s, 1, x, {.inputs = inputs, .outputs = outputs, .kernel = kKernel, .dilation = dilation});
    y = causal(b, s, 2, y, {.inputs = outputs, .outputs = outputs, .kernel = kKernel, .dilation = dilation});
    if (inputs != outputs)
      x = depthwise_conv1d(b, s.child("downsample"), x, {.inputs = inputs, .outputs = outputs});
    x = b.node(s.child("relu"), "Relu", {b.node(s, "Add", {y, x})});
    inputs = outputs;
  }
  // The output layer shares the embedding's table.
  const Scope decoder = root.child("decoder");
  Value* logits =
      b.node(decoder, "MatMul", {transpose(b, root, x, {0, 2, 1}), transpose(b, decoder, table, {1, 0})});
  logits = b.node(decoder, "Add", {logits, b.weight(decoder, "bias", {kCharacters}, Init::normal(0.02))});
  b.output(logits, "output", DType::kFloat32, {b.batch(), kSequence, kCharacters});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "tcn",
    .summary = "character model: causal dilated 1-D convolutions, 400 characters (Bai et al., 2018)",
    .build = build};

}  // namespace assay::template_tcn
