// RegNetY-400MF (Radosavovic et al., "Designing Network Design Spaces", 2020), as torchvision builds it.
#include <fmt/core.h>

#include <cmath>

#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_regnet_y_400mf {
namespace {

constexpr int64_t kGroupWidth = 8, kClasses = 1000;
struct Stage {
  int64_t width;
  int blocks;
};
constexpr Stage kStages[] = {{48, 1}, {104, 3}, {208, 6}, {440, 6}};

Feature conv_norm_relu(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec) {
  return relu(b, s.item(2), conv_norm(b, s.item(0), s.item(1), x, spec));
}

Feature block(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t width, int64_t stride) {
  const Scope f = s.child("f"), proj = s.child("proj");
  Feature shortcut = x;
  if (stride != 1 || x.channels != width)
    shortcut = conv_norm(b, proj.item(0), proj.item(1), x, {.outputs = width, .stride = stride}, kLinearNorm);
  Feature y = conv_norm_relu(b, f.child("a"), x, {.outputs = width});
  y = conv_norm_relu(
      b, f.child("b"), y,
      {.outputs = width, .kernel = 3, .stride = stride, .pad = 1, .groups = width / kGroupWidth});
  const auto squeezed = static_cast<int64_t>(std::nearbyint(0.25 * static_cast<double>(x.channels)));
  y = squeeze_excite(b, f.child("se"), y, {.channels = squeezed});
  y = conv_norm(b, f.child("c").item(0), f.child("c").item(1), y, {.outputs = width}, kResidualNorm);
  return relu(b, s.child("activation"), add(b, s, shortcut, y));
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "regnet_y_400mf");
  const Scope root, trunk = root.child("trunk_output");
  Feature x = image_input(b, "input", 3, 224, 224);
  x = conv_norm_relu(b, root.child("stem"), x, {.outputs = 32, .kernel = 3, .stride = 2, .pad = 1});
  int index = 1;
  for (const Stage& stage : kStages) {
    const Scope blocks = trunk.child(fmt::format("block{}", index));
    for (int i = 0; i < stage.blocks; ++i)
      x = block(b, blocks.child(fmt::format("block{}-{}", index, i)), x, stage.width, i == 0 ? 2 : 1);
    ++index;
  }
  Value* pooled = global_average(b, root.child("avgpool"), root, x);
  Value* logits =
      fully_connected(b, root.child("fc"), pooled, x.channels, kClasses, Init::lecun_normal(x.channels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "regnet-y-400mf",
    .summary = "image classifier: groups of width 8, squeeze-and-excitation (Radosavovic et al., 2020)",
    .build = build};

}  // namespace assay::template_regnet_y_400mf
