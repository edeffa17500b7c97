// ConvNeXt-T (Liu et al., "A ConvNet for the 2020s", 2022), as torchvision builds it: maps are transposed to
// channels-last for the layer normalizations and linear layers, and back.
#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_convnext_tiny {
namespace {

constexpr int64_t kWidths[] = {96, 192, 384, 768};
constexpr int kDepths[] = {3, 3, 9, 3};
constexpr int64_t kClasses = 1000;
constexpr float kEpsilon = 1e-6F;
constexpr Init kInit = Init::truncated_normal(0.02);

/// LayerNorm over the channels of [batch, channels, height, width].
Value* layer_norm_2d(TemplateBuilder& b, const Scope& s, Value* x, int64_t width) {
  return transpose(b, s, layer_norm(b, s, transpose(b, s, x, {0, 2, 3, 1}), width, kEpsilon), {0, 3, 1, 2});
}

Feature strided_conv(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t stride) {
  const ConvSpec spec = {.outputs = outputs, .kernel = stride, .stride = stride, .bias = true};
  return conv(b, s, x, spec, Init::lecun_normal(x.channels * stride * stride), Init::normal(0.02));
}

Value* block(TemplateBuilder& b, const Scope& s, const Feature& x) {
  const Scope layers = s.child("block");
  const int64_t width = x.channels;
  const ConvSpec depthwise = {.outputs = width, .kernel = 7, .pad = 3, .groups = width, .bias = true};
  Value* y = conv(b, layers.item(0), x, depthwise, Init::lecun_normal(49), Init::normal(0.02)).value;
  y = layer_norm(b, layers.item(2), transpose(b, layers.item(1), y, {0, 2, 3, 1}), width, kEpsilon);
  y = linear(b, layers.item(3), y, width, 4 * width, Init::lecun_normal(width));
  y = linear(b, layers.item(5), gelu(b, layers.item(4), y), 4 * width, width, Init::lecun_normal(4 * width));
  y = transpose(b, layers.item(6), y, {0, 3, 1, 2});
  y = b.node(s, "Mul", {b.weight(s, "layer_scale", {width, 1, 1}, Init::normal(0.05, 0.3)), y});
  return b.node(s, "Add", {y, x.value});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "convnext_tiny");
  const Scope root, features = root.child("features"), classifier = root.child("classifier");
  const Feature image = image_input(b, "input", 3, 224, 224);
  Feature x = strided_conv(b, features.item(0).item(0), image, kWidths[0], 4);
  x.value = layer_norm_2d(b, features.item(0).item(1), x.value, kWidths[0]);
  for (int stage = 0; stage < 4; ++stage) {
    if (stage > 0) {
      const Scope down = features.item(2 * stage);
      x.value = layer_norm_2d(b, down.item(0), x.value, x.channels);
      x = strided_conv(b, down.item(1), x, kWidths[stage], 2);
    }
    for (int i = 0; i < kDepths[stage]; ++i) x.value = block(b, features.item(2 * stage + 1).item(i), x);
  }
  Value* y = b.node(root.child("avgpool"), "GlobalAveragePool", {x.value});
  y = layer_norm_2d(b, classifier.item(0), y, x.channels);
  y = b.node(classifier.item(1), "Flatten", {y}, {{"axis", int64_t{1}}});
  y = fully_connected(b, classifier.item(2), y, x.channels, kClasses, kInit);
  b.output(y, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "convnext-tiny",
    .summary = "image classifier: 7x7 depthwise convolutions, channels-last norms (Liu et al., 2022)",
    .build = build};

}  // namespace assay::template_convnext_tiny
