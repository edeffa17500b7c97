#include "templates/resnet.h"

#include <fmt/core.h>

namespace assay {
namespace {

struct BlockSpec {
  int64_t width, stride, dilation;
};

/// The input, converted to the extents of the block's output if they differ.
Feature shortcut(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t stride) {
  if (stride == 1 && x.channels == outputs) return x;
  const Scope sequence = s.child("downsample");
  return conv_norm(b, sequence.item(0), sequence.item(1), x, {.outputs = outputs, .stride = stride},
                   kLinearNorm);
}

Feature basic_block(TemplateBuilder& b, const Scope& s, const Feature& x, const BlockSpec& block) {
  const ConvSpec first = {.outputs = block.width, .kernel = 3, .stride = block.stride, .pad = 1};
  Feature y = relu(b, s.child("relu"), conv_norm(b, s.child("conv1"), s.child("bn1"), x, first));
  const ConvSpec second = {.outputs = block.width, .kernel = 3, .pad = 1};
  y = conv_norm(b, s.child("conv2"), s.child("bn2"), y, second, kResidualNorm);
  return relu(b, s.child("relu_1"), add(b, s, y, shortcut(b, s, x, block.width, block.stride)));
}

Feature bottleneck_block(TemplateBuilder& b, const Scope& s, const Feature& x, const ResNetSpec& spec,
                         const BlockSpec& block) {
  const int64_t inner = block.width * spec.width_per_group / 64 * spec.groups;
  Feature y = conv_norm(b, s.child("conv1"), s.child("bn1"), x, {.outputs = inner});
  y = relu(b, s.child("relu"), y);
  const ConvSpec middle = {.outputs = inner,
                           .kernel = 3,
                           .stride = block.stride,
                           .pad = block.dilation,
                           .groups = spec.groups,
                           .dilation = block.dilation};
  y = relu(b, s.child("relu_1"), conv_norm(b, s.child("conv2"), s.child("bn2"), y, middle));
  y = conv_norm(b, s.child("conv3"), s.child("bn3"), y, {.outputs = 4 * block.width}, kResidualNorm);
  return relu(b, s.child("relu_2"), add(b, s, y, shortcut(b, s, x, 4 * block.width, block.stride)));
}

}  // namespace

std::vector<Feature> resnet_stages(TemplateBuilder& b, const Scope& root, const Feature& image,
                                   const ResNetSpec& spec) {
  const ConvSpec stem = {.outputs = 64, .kernel = 7, .stride = 2, .pad = 3};
  Feature x = relu(b, root.child("relu"), conv_norm(b, root.child("conv1"), root.child("bn1"), image, stem));
  x = max_pool(b, root.child("maxpool"), x, {.kernel = 3, .stride = 2, .pad = 1});
  std::vector<Feature> stages;
  int64_t dilation = 1;
  for (int stage = 0; stage < 4; ++stage) {
    const Scope layer = root.child(fmt::format("layer{}", stage + 1));
    BlockSpec block = {.width = int64_t{64} << stage, .stride = stage > 0 ? 2 : 1, .dilation = dilation};
    if (stage >= 4 - spec.dilated_stages) {
      block.stride = 1;
      dilation *= 2;
    }
    for (int i = 0; i < spec.depths[static_cast<size_t>(stage)]; ++i) {
      x = spec.block == ResNetBlock::kBasic ? basic_block(b, layer.item(i), x, block)
                                            : bottleneck_block(b, layer.item(i), x, spec, block);
      block.stride = 1;
      block.dilation = dilation;
    }
    stages.push_back(x);
  }
  return stages;
}

std::shared_ptr<Model> build_resnet(const TemplateOptions& options, std::string name, const ResNetSpec& spec,
                                    const ExportStyle& style) {
  constexpr int64_t kClasses = 1000;
  TemplateBuilder b(options, std::move(name), style);
  const Scope root;
  const Feature x = resnet_stages(b, root, image_input(b, "input", 3, 224, 224), spec).back();
  Value* features = global_average(b, root.child("avgpool"), root, x);
  Value* logits =
      fully_connected(b, root.child("fc"), features, x.channels, kClasses, Init::lecun_normal(x.channels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace assay
