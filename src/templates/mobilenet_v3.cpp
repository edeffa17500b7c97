#include "templates/mobilenet_v3.h"

#include <algorithm>

namespace assay {
namespace {

constexpr NormSpec kMobileNorm = {1.0, 0.5, 1e-3}, kMobileLinear = {1.0, 0.0, 1e-3},
                   kMobileResidual = {0.5, 0.0, 1e-3};

Feature layer(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec, Nonlinearity f) {
  return activate(b, s.item(2), conv_norm(b, s.item(0), s.item(1), x, spec, kMobileNorm), f);
}

Feature inverted_residual(TemplateBuilder& b, const Scope& s, const Feature& x, const MobileNetV3Block& block,
                          Nonlinearity swish) {
  const Scope layers = s.child("block");
  const Nonlinearity f = block.is_swish ? swish : Nonlinearity::kRelu;
  const bool is_residual = block.stride == 1 && x.channels == block.outputs;
  int i = 0;
  Feature y = x;
  if (block.expanded != x.channels) y = layer(b, layers.item(i++), y, {.outputs = block.expanded}, f);
  const ConvSpec depthwise = {.outputs = block.expanded,
                              .kernel = block.kernel,
                              .stride = block.stride,
                              .pad = block.kernel / 2,
                              .groups = block.expanded};
  y = layer(b, layers.item(i++), y, depthwise, f);
  if (block.squeezes)
    y = squeeze_excite(
        b, layers.item(i++), y,
        {.channels = divisible_channels(block.expanded / 4), .outer = Nonlinearity::kHardSigmoid});
  const Scope project = layers.item(i);
  y = conv_norm(b, project.item(0), project.item(1), y, {.outputs = block.outputs},
                is_residual ? kMobileResidual : kMobileLinear);
  return is_residual ? add(b, s, x, y) : y;
}

}  // namespace

int64_t divisible_channels(int64_t channels) {
  const int64_t nearest = std::max<int64_t>(8, (channels + 4) / 8 * 8);
  return 10 * nearest < 9 * channels ? nearest + 8 : nearest;
}

std::shared_ptr<Model> build_mobilenet_v3(const TemplateOptions& options, std::string name,
                                          const MobileNetV3Spec& spec) {
  constexpr int64_t kClasses = 1000;
  TemplateBuilder b(options, std::move(name));
  const Scope root, features = root.child("features"), classifier = root.child("classifier");
  Feature x = image_input(b, "input", 3, 224, 224);
  int index = 0;
  x = layer(b, features.item(index++), x, {.outputs = 16, .kernel = 3, .stride = 2, .pad = 1}, spec.swish);
  for (const MobileNetV3Block& block : spec.blocks)
    x = inverted_residual(b, features.item(index++), x, block, spec.swish);
  x = layer(b, features.item(index), x, {.outputs = 6 * x.channels}, spec.swish);
  Value* pooled = global_average(b, root.child("avgpool"), root, x);
  Feature hidden{
      fully_connected(b, classifier.item(0), pooled, x.channels, spec.hidden, Init::he_normal(x.channels)),
      spec.hidden,
      1,
      1,
      {},
      {}};
  hidden = activate(b, classifier.item(1), hidden, spec.swish);
  Value* logits = fully_connected(b, classifier.item(3), hidden.value, spec.hidden, kClasses,
                                  Init::lecun_normal(spec.hidden));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace assay
