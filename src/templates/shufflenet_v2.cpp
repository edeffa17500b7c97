// ShuffleNetV2 x1.0 (Ma et al., "ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design",
// 2018), as torchvision builds and PyTorch exports it: the shuffle of channels by shapes that the graph
// computes.
#include <fmt/core.h>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_shufflenet_v2 {
namespace {

constexpr int64_t kClasses = 1000;

/// Channels of both halves in turn, by Reshape, Transpose, Reshape.
Feature shuffle(TemplateBuilder& b, const Scope& s, const Feature& x) {
  Value* batch = extent(b, s, x.value, 0);
  Value* height = extent(b, s, x.value, 2);
  Value* width = extent(b, s, x.value, 3);
  Value* y = reshape_to(b, s, x.value, {batch, b.ints(s, {2}), b.ints(s, {x.channels / 2}), height, width});
  Value* const channels = b.ints(s, {x.channels});
  y = reshape_to(b, s, transpose(b, s, y, {0, 2, 1, 3, 4}), {batch, channels, height, width});
  Feature z = x;
  z.value = y;
  const auto interleave = [](std::vector<float>& v) {
    const std::vector<float> old = v;
    for (size_t c = 0; c < v.size(); ++c) v[c] = old[c / 2 + c % 2 * (v.size() / 2)];
  };
  for (ChannelMoments* m : {&z.moments, &z.before_activation}) {
    interleave(m->mean);
    interleave(m->variance);
  }
  return z;
}

Feature depthwise(TemplateBuilder& b, const Scope& s, int at, const Feature& x, int64_t stride) {
  const ConvSpec spec = {
      .outputs = x.channels, .kernel = 3, .stride = stride, .pad = 1, .groups = x.channels};
  return conv_norm(b, s.item(at), s.item(at + 1), x, spec, kLinearNorm);
}

Feature pointwise(TemplateBuilder& b, const Scope& s, int at, const Feature& x, int64_t outputs) {
  return relu(b, s.item(at + 2), conv_norm(b, s.item(at), s.item(at + 1), x, {.outputs = outputs}));
}

Feature unit(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t stride) {
  const Scope first = s.child("branch1"), second = s.child("branch2");
  const int64_t half = outputs / 2;
  Feature kept, y = x;
  if (stride == 1) {
    std::vector<Feature> halves = split_channels(b, s, x, 2);
    kept = halves[0];
    y = halves[1];
  } else {
    kept = pointwise(b, first, 2, depthwise(b, first, 0, x, stride), half);
  }
  y = pointwise(b, second, 0, y, half);
  y = pointwise(b, second, 5, depthwise(b, second, 3, y, stride), half);
  return shuffle(b, s, concat(b, s, {kept, y}));
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "shufflenet_v2", {.constant_nodes = true});
  const Scope root;
  Feature x = image_input(b, "input", 3, 224, 224);
  const Scope stem = root.child("conv1"), last = root.child("conv5");
  x = conv_norm(b, stem.item(0), stem.item(1), x, {.outputs = 24, .kernel = 3, .stride = 2, .pad = 1});
  x = max_pool(b, root.child("maxpool"), relu(b, stem.item(2), x), {.kernel = 3, .stride = 2, .pad = 1});
  struct Stage {
    int units;
    int64_t outputs;
  };
  int index = 2;
  for (const Stage& stage : {Stage{4, 116}, Stage{8, 232}, Stage{4, 464}}) {
    const Scope layers = root.child(fmt::format("stage{}", index++));
    for (int i = 0; i < stage.units; ++i) x = unit(b, layers.item(i), x, stage.outputs, i == 0 ? 2 : 1);
  }
  x = pointwise(b, last, 0, x, 1024);
  Value* mean = reshape(b, root, reduce_mean(b, root, x.value, {2, 3}), {0, x.channels});
  Value* logits =
      fully_connected(b, root.child("fc"), mean, x.channels, kClasses, Init::lecun_normal(x.channels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "shufflenet-v2",
    .summary = "image classifier: split and shuffled channels (Ma et al., 2018)",
    .build = build};

}  // namespace assay::template_shufflenet_v2
