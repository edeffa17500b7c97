#include "templates/efficientnet.h"

#include <algorithm>

namespace assay {
namespace {

class EfficientNet {
 public:
  EfficientNet(TemplateBuilder& b, const EfficientNetSpec& spec) : b_(b), spec_(spec) {}

  /// Conv2dNormActivation: convolution, batch normalization, SiLU.
  Feature conv_norm_silu(const Scope& s, const Feature& x, const ConvSpec& conv) {
    return silu(b_, s.item(2), conv_norm(b_, s.item(0), s.item(1), x, conv, norm(kActivatedNorm)));
  }

  /// MBConv: expansion, depthwise convolution, squeeze-and-excitation, projection. Fused: expansion by a
  /// dense convolution, projection; without expansion the dense convolution alone.
  Feature block(const Scope& s, const Feature& x, const EfficientNetStage& stage, int64_t stride) {
    const Scope layers = s.child("block");
    const bool is_residual = stride == 1 && x.channels == stage.channels;
    const int64_t expanded = x.channels * stage.expansion;
    ConvSpec spatial = {.outputs = stage.is_fused && stage.expansion == 1 ? stage.channels : expanded,
                        .kernel = stage.kernel,
                        .stride = stride,
                        .pad = stage.kernel / 2,
                        .groups = stage.is_fused ? 1 : expanded};
    int i = 0;
    Feature y = x;
    if (!stage.is_fused && stage.expansion != 1)
      y = conv_norm_silu(layers.item(i++), y, {.outputs = expanded});
    y = conv_norm_silu(layers.item(i++), y, spatial);
    if (!stage.is_fused)
      y = squeeze_excite(b_, layers.item(i++), y,
                         {.channels = std::max<int64_t>(1, x.channels / 4), .inner = Nonlinearity::kSilu});
    if (!stage.is_fused || stage.expansion != 1) {
      const Scope project = layers.item(i);
      y = conv_norm(b_, project.item(0), project.item(1), y, {.outputs = stage.channels},
                    norm(is_residual ? kResidualNorm : kLinearNorm));
    }
    return is_residual ? add(b_, s, y, x) : y;
  }

 private:
  NormSpec norm(NormSpec n) const {
    n.epsilon = spec_.epsilon;
    return n;
  }

  TemplateBuilder& b_;
  const EfficientNetSpec& spec_;
};

}  // namespace

std::shared_ptr<Model> build_efficientnet(const TemplateOptions& options, std::string name,
                                          const EfficientNetSpec& spec) {
  constexpr int64_t kLastChannels = 1280, kClasses = 1000;
  TemplateBuilder b(options, std::move(name));
  EfficientNet net(b, spec);
  const Scope root, features = root.child("features");
  Feature x = image_input(b, "input", 3, spec.extent, spec.extent);
  int index = 0;
  x = net.conv_norm_silu(features.item(index++), x,
                         {.outputs = spec.stem, .kernel = 3, .stride = 2, .pad = 1});
  for (const EfficientNetStage& stage : spec.stages) {
    const Scope blocks = features.item(index++);
    for (int i = 0; i < stage.blocks; ++i) x = net.block(blocks.item(i), x, stage, i == 0 ? stage.stride : 1);
  }
  x = net.conv_norm_silu(features.item(index), x, {.outputs = kLastChannels});
  Value* pooled = global_average(b, root.child("avgpool"), root, x);
  Value* logits = fully_connected(b, root.child("classifier").item(1), pooled, kLastChannels, kClasses,
                                  Init::lecun_normal(kLastChannels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace assay
