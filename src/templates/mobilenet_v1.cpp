// MobileNetV1 (Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision
// Applications", 2017): depthwise and pointwise convolutions in turn, batch normalization folded.
#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_mobilenet_v1 {
namespace {

constexpr int64_t kClasses = 1000;
struct Layer {
  int64_t outputs, stride;
};
constexpr Layer kLayers[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                             {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "mobilenet_v1", {.folds_norms = true});
  const Scope root, model = root.child("model");
  Feature x = image_input(b, "input", 3, 224, 224);
  int index = 0;
  const auto layer = [&](const ConvSpec& spec, int at) {
    const Scope s = model.item(index);
    x = relu6(b, s.item(at + 2), conv_norm(b, s.item(at), s.item(at + 1), x, spec));
  };
  layer({.outputs = 32, .kernel = 3, .stride = 2, .pad = 1}, 0);
  for (const Layer& l : kLayers) {
    ++index;
    layer({.outputs = x.channels, .kernel = 3, .stride = l.stride, .pad = 1, .groups = x.channels}, 0);
    layer({.outputs = l.outputs}, 3);
  }
  Value* pooled = global_average(b, root, root, x);
  Value* logits =
      fully_connected(b, root.child("fc"), pooled, x.channels, kClasses, Init::lecun_normal(x.channels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mobilenet-v1",
    .summary = "image classifier: depthwise and pointwise convolutions (Howard et al., 2017)",
    .build = build};

}  // namespace assay::template_mobilenet_v1
