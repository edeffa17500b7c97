// DenseNet-121 (Huang et al., "Densely Connected Convolutional Networks", 2017), as torchvision builds it.
// Its normalizations stand before the convolutions, where they cannot be folded.
#include <fmt/core.h>

#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_densenet_121 {
namespace {

constexpr int64_t kGrowth = 32, kBottleneck = 4 * kGrowth, kClasses = 1000;
constexpr int kDepths[] = {6, 12, 24, 16};

Feature norm_relu(TemplateBuilder& b, const Scope& norm, const Scope& act, const Feature& x) {
  return relu(b, act, batch_norm(b, norm, x, kActivatedNorm));
}

/// The channels that a layer adds to those of all layers before it.
Feature dense_layer(TemplateBuilder& b, const Scope& s, const std::vector<Feature>& before) {
  Feature x = before.size() == 1 ? before.front() : concat(b, s, before);
  x = norm_relu(b, s.child("norm1"), s.child("relu1"), x);
  x = conv_norm(b, s.child("conv1"), s.child("norm2"), x, {.outputs = kBottleneck});
  return conv(b, s.child("conv2"), relu(b, s.child("relu2"), x), {.outputs = kGrowth, .kernel = 3, .pad = 1});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "densenet_121");
  const Scope root, features = root.child("features");
  Feature x = image_input(b, "input", 3, 224, 224);
  x = conv_norm(b, features.child("conv0"), features.child("norm0"), x,
                {.outputs = 64, .kernel = 7, .stride = 2, .pad = 3});
  x = max_pool(b, features.child("pool0"), relu(b, features.child("relu0"), x),
               {.kernel = 3, .stride = 2, .pad = 1});
  for (int stage = 0; stage < 4; ++stage) {
    const Scope block = features.child(fmt::format("denseblock{}", stage + 1));
    std::vector<Feature> all = {x};
    for (int i = 0; i < kDepths[stage]; ++i)
      all.push_back(dense_layer(b, block.child(fmt::format("denselayer{}", i + 1)), all));
    x = concat(b, block, all);
    if (stage == 3) break;
    const Scope transition = features.child(fmt::format("transition{}", stage + 1));
    x = norm_relu(b, transition.child("norm"), transition.child("relu"), x);
    x = conv(b, transition.child("conv"), x, {.outputs = x.channels / 2});
    x = average_pool(b, transition.child("pool"), x, {.kernel = 2, .stride = 2});
  }
  x = norm_relu(b, features.child("norm5"), root, x);
  Value* pooled = global_average(b, root, root, x);
  Value* logits = fully_connected(b, root.child("classifier"), pooled, x.channels, kClasses,
                                  Init::lecun_normal(x.channels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "densenet-121",
    .summary = "image classifier: every layer sees all before it (Huang et al., 2017)",
    .build = build};

}  // namespace assay::template_densenet_121
