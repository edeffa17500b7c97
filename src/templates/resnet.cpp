#include "templates/resnet.h"

#include <fmt/core.h>

#include "templates/conv_net.h"

namespace assay {
namespace {

/// The input brought to the extents of the block's output, where they differ.
Feature shortcut(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t stride) {
  if (stride == 1 && x.channels == outputs) return x;
  const Scope sequence = s.child("downsample");
  const Feature y = conv(b, sequence.item(0), x, {.outputs = outputs, .stride = stride});
  return batch_norm(b, sequence.item(1), y, kLinearNorm);
}

Feature basic_block(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t width, int64_t stride) {
  Feature y = conv(b, s.child("conv1"), x, {.outputs = width, .kernel = 3, .stride = stride, .pad = 1});
  y = relu(b, s.child("relu"), batch_norm(b, s.child("bn1"), y, kActivatedNorm));
  y = conv(b, s.child("conv2"), y, {.outputs = width, .kernel = 3, .pad = 1});
  y = batch_norm(b, s.child("bn2"), y, kResidualNorm);
  return relu(b, s.child("relu_1"), add(b, s, y, shortcut(b, s, x, width, stride)));
}

Feature bottleneck_block(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t width,
                         int64_t stride) {
  Feature y = conv(b, s.child("conv1"), x, {.outputs = width});
  y = relu(b, s.child("relu"), batch_norm(b, s.child("bn1"), y, kActivatedNorm));
  y = conv(b, s.child("conv2"), y, {.outputs = width, .kernel = 3, .stride = stride, .pad = 1});
  y = relu(b, s.child("relu_1"), batch_norm(b, s.child("bn2"), y, kActivatedNorm));
  y = conv(b, s.child("conv3"), y, {.outputs = 4 * width});
  y = batch_norm(b, s.child("bn3"), y, kResidualNorm);
  return relu(b, s.child("relu_2"), add(b, s, y, shortcut(b, s, x, 4 * width, stride)));
}

}  // namespace

std::shared_ptr<Model> build_resnet(const TemplateOptions& options, std::string name, ResNetBlock block,
                                    const std::array<int, 4>& depths) {
  constexpr int64_t kClasses = 1000;
  TemplateBuilder b(options, std::move(name));
  const Scope root;
  Feature x = image_input(b, "input", 3, 224, 224);
  x = conv(b, root.child("conv1"), x, {.outputs = 64, .kernel = 7, .stride = 2, .pad = 3});
  x = relu(b, root.child("relu"), batch_norm(b, root.child("bn1"), x, kActivatedNorm));
  x = max_pool(b, root.child("maxpool"), x, {.kernel = 3, .stride = 2, .pad = 1});
  for (int stage = 0; stage < 4; ++stage) {
    const Scope layer = root.child(fmt::format("layer{}", stage + 1));
    const int64_t width = int64_t{64} << stage;
    for (int i = 0; i < depths[static_cast<size_t>(stage)]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      const auto add_block = block == ResNetBlock::kBasic ? basic_block : bottleneck_block;
      x = add_block(b, layer.item(i), x, width, stride);
    }
  }
  Value* features = global_average(b, root.child("avgpool"), root, x);
  Value* logits =
      fully_connected(b, root.child("fc"), features, x.channels, kClasses, Init::lecun_normal(x.channels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace assay
