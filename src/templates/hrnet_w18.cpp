// HRNet-W18 (Wang et al., "Deep High-Resolution Representation Learning for Visual Recognition", 2020) with
// its classification head, as timm builds it: maps of up
// to four scales in parallel, with repeated exchange.
#include <fmt/core.h>

#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_hrnet_w18 {
namespace {

constexpr int64_t kWidth = 18, kClasses = 1000;
using Maps = std::vector<Feature>;

int64_t width_of(size_t branch) { return kWidth << branch; }
ConvSpec spec_3x3(int64_t outputs, int64_t stride = 1) {
  return {.outputs = outputs, .kernel = 3, .stride = stride, .pad = 1};
}

Feature basic_block(TemplateBuilder& b, const Scope& s, const Feature& x) {
  Feature y = conv_norm(b, s.child("conv1"), s.child("bn1"), x, spec_3x3(x.channels));
  y = conv_norm(b, s.child("conv2"), s.child("bn2"), relu(b, s.child("act1"), y), spec_3x3(x.channels),
                kResidualNorm);
  return relu(b, s.child("act2"), add(b, s, y, x));
}

Feature bottleneck(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t width) {
  const Scope down = s.child("downsample");
  Feature y = relu(b, s.child("act1"), conv_norm(b, s.child("conv1"), s.child("bn1"), x, {.outputs = width}));
  y = relu(b, s.child("act2"), conv_norm(b, s.child("conv2"), s.child("bn2"), y, spec_3x3(width)));
  y = conv_norm(b, s.child("conv3"), s.child("bn3"), y, {.outputs = 4 * width}, kResidualNorm);
  const Feature shortcut = x.channels == 4 * width ? x
                                                   : conv_norm(b, down.item(0), down.item(1), x,
                                                               {.outputs = 4 * width}, kLinearNorm);
  return relu(b, s.child("act3"), add(b, s, y, shortcut));
}

Feature upsampled(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t factor) {
  Value* roi = b.opset() < 13 ? b.constant(s, Tensor::vector(std::vector<float>{})) : nullptr;
  const auto f = static_cast<float>(factor);
  Feature y = x;
  y.value = b.node(s, "Resize", {x.value, roi, b.constant(s, Tensor::vector(std::vector<float>{1, 1, f, f}))},
                   {{"coordinate_transformation_mode", std::string("asymmetric")},
                    {"mode", std::string("nearest")},
                    {"nearest_mode", std::string("floor")}});
  y.height *= factor;
  y.width *= factor;
  return y;
}

/// Branch j resampled to branch i.
Feature exchanged(TemplateBuilder& b, const Scope& s, const Feature& x, size_t i, size_t j) {
  if (j > i) {
    const Feature y = conv_norm(b, s.item(0), s.item(1), x, {.outputs = width_of(i)}, kLinearNorm);
    return upsampled(b, s.item(2), y, int64_t{1} << (j - i));
  }
  Feature y = x;
  for (size_t step = j; step < i; ++step) {
    const Scope at = s.item(static_cast<int>(step - j));
    const bool is_last = step + 1 == i;
    y = conv_norm(b, at.item(0), at.item(1), y, spec_3x3(is_last ? width_of(i) : width_of(j), 2),
                  is_last ? kLinearNorm : kActivatedNorm);
    if (!is_last) y = relu(b, at.item(2), y);
  }
  return y;
}

Maps module(TemplateBuilder& b, const Scope& s, const Maps& in) {
  Maps x = in;
  for (size_t i = 0; i < x.size(); ++i)
    for (int k = 0; k < 4; ++k) x[i] = basic_block(b, s.child(fmt::format("branches.{}", i)).item(k), x[i]);
  Maps out;
  for (size_t i = 0; i < x.size(); ++i) {
    const Scope fuse = s.child(fmt::format("fuse_layers.{}", i));
    Feature sum;
    for (size_t j = 0; j < x.size(); ++j) {
      const Feature y = i == j ? x[j] : exchanged(b, fuse.child(fmt::format("{}", j)), x[j], i, j);
      sum = j == 0 ? y : add(b, s, sum, y);
    }
    out.push_back(relu(b, s.child("fuse_act"), sum));
  }
  return out;
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "hrnet_w18");
  const Scope root;
  const auto conv_relu = [&](const Scope& conv_scope, const Scope& norm_scope, const Scope& act,
                             const Feature& x, const ConvSpec& spec) {
    return relu(b, act, conv_norm(b, conv_scope, norm_scope, x, spec));
  };
  Feature stem = image_input(b, "input", 3, 224, 224);
  stem = conv_relu(root.child("conv1"), root.child("bn1"), root.child("act1"), stem, spec_3x3(64, 2));
  stem = conv_relu(root.child("conv2"), root.child("bn2"), root.child("act2"), stem, spec_3x3(64, 2));
  for (int i = 0; i < 4; ++i) stem = bottleneck(b, root.child("layer1").item(i), stem, 64);
  const Scope t1 = root.child("transition1"), t1_new = t1.item(1).item(0);
  Maps x = {
      conv_relu(t1.item(0).item(0), t1.item(0).item(1), t1.item(0).item(2), stem, spec_3x3(width_of(0))),
      conv_relu(t1_new.item(0), t1_new.item(1), t1_new.item(2), stem, spec_3x3(width_of(1), 2))};
  constexpr int kModules[] = {1, 4, 3};
  for (int stage = 2; stage <= 4; ++stage) {
    if (stage > 2) {
      const Scope added = root.child(fmt::format("transition{}", stage - 1)).item(stage - 1).item(0);
      x.push_back(
          conv_relu(added.item(0), added.item(1), added.item(2), x.back(), spec_3x3(width_of(x.size()), 2)));
    }
    for (int i = 0; i < kModules[stage - 2]; ++i)
      x = module(b, root.child(fmt::format("stage{}", stage)).item(i), x);
  }
  Feature y;
  for (size_t i = 0; i < x.size(); ++i) {
    const Feature wide =
        bottleneck(b, root.child(fmt::format("incre_modules.{}", i)).item(0), x[i], int64_t{32} << i);
    if (i == 0) {
      y = wide;
      continue;
    }
    const Scope down = root.child(fmt::format("downsamp_modules.{}", i - 1));
    ConvSpec spec = spec_3x3(wide.channels, 2);
    spec.bias = true;
    y = relu(b, down.item(2), batch_norm(b, down.item(1), conv(b, down.item(0), y, spec), kActivatedNorm));
    y = add(b, root, wide, y);
  }
  const Scope last = root.child("final_layer");
  Feature final_map = conv(b, last.item(0), y, {.outputs = 2048, .bias = true});
  final_map = relu(b, last.item(2), batch_norm(b, last.item(1), final_map, kActivatedNorm));
  Value* pooled = global_average(b, root.child("global_pool"), root, final_map);
  Value* logits =
      fully_connected(b, root.child("classifier"), pooled, 2048, kClasses, Init::lecun_normal(2048));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "hrnet-w18",
    .summary = "image classifier: four scales side by side (Wang et al., 2020)",
    .build = build};

}  // namespace assay::template_hrnet_w18
