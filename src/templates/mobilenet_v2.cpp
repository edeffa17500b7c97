// MobileNetV2 (Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018), as
// torchvision builds it.
#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_mobilenet_v2 {
namespace {

struct Stage {
  int64_t expansion, channels;
  int blocks;
  int64_t stride;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
constexpr int64_t kLastChannels = 1280;
constexpr int64_t kClasses = 1000;

/// Conv2dNormActivation: convolution, batch normalization, ReLU6.
Feature conv_norm_relu6(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec) {
  Feature y = batch_norm(b, s.item(1), conv(b, s.item(0), x, spec), kActivatedNorm);
  return relu6(b, s.item(2), y);
}

Feature inverted_residual(TemplateBuilder& b, const Scope& s, const Feature& x, const Stage& stage,
                          int64_t stride) {
  const Scope layers = s.child("conv");
  const bool is_residual = stride == 1 && x.channels == stage.channels;
  int i = 0;
  Feature y = x;
  if (stage.expansion != 1)
    y = conv_norm_relu6(b, layers.item(i++), y, {.outputs = x.channels * stage.expansion});
  const ConvSpec depthwise = {
      .outputs = y.channels, .kernel = 3, .stride = stride, .pad = 1, .groups = y.channels};
  y = conv_norm_relu6(b, layers.item(i++), y, depthwise);
  y = conv(b, layers.item(i++), y, {.outputs = stage.channels});
  y = batch_norm(b, layers.item(i), y, is_residual ? kResidualNorm : kLinearNorm);
  return is_residual ? add(b, s, x, y) : y;
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "mobilenet_v2");
  const Scope root;
  const Scope features = root.child("features");
  Feature x = image_input(b, "input", 3, 224, 224);
  int index = 0;
  x = conv_norm_relu6(b, features.item(index++), x, {.outputs = 32, .kernel = 3, .stride = 2, .pad = 1});
  for (const Stage& stage : kStages)
    for (int i = 0; i < stage.blocks; ++i)
      x = inverted_residual(b, features.item(index++), x, stage, i == 0 ? stage.stride : 1);
  x = conv_norm_relu6(b, features.item(index), x, {.outputs = kLastChannels});
  Value* pooled = global_average(b, root, root, x);
  Value* logits = fully_connected(b, root.child("classifier").item(1), pooled, kLastChannels, kClasses,
                                  Init::lecun_normal(kLastChannels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mobilenet-v2",
    .summary = "image classifier: depthwise convolutions, ReLU6 (Sandler et al., 2018)",
    .build = build};

}  // namespace assay::template_mobilenet_v2
