// U-Net (Ronneberger et al., "U-Net: Convolutional Networks for Biomedical Image Segmentation", 2015) in its
// padded form with batch normalization and learned up-sampling, so that input and output have the same
// extents.
#include <fmt/core.h>

#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_unet {
namespace {

constexpr int64_t kWidth = 64;
constexpr int kLevels = 4;
constexpr int64_t kClasses = 2;
constexpr int64_t kExtent = 256;

Feature double_conv(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs) {
  const Scope layers = s.child("double_conv");
  Feature y = conv(b, layers.item(0), x, {.outputs = outputs, .kernel = 3, .pad = 1});
  y = relu(b, layers.item(2), batch_norm(b, layers.item(1), y, kActivatedNorm));
  y = conv(b, layers.item(3), y, {.outputs = outputs, .kernel = 3, .pad = 1});
  return relu(b, layers.item(5), batch_norm(b, layers.item(4), y, kActivatedNorm));
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "unet");
  const Scope root;
  Feature x = image_input(b, "input", 3, kExtent, kExtent);
  x = double_conv(b, root.child("inc"), x, kWidth);
  std::vector<Feature> skips;
  for (int level = 1; level <= kLevels; ++level) {
    skips.push_back(x);
    const Scope down = root.child(fmt::format("down{}", level)).child("maxpool_conv");
    x = max_pool(b, down.item(0), x, {.kernel = 2, .stride = 2});
    x = double_conv(b, down.item(1), x, kWidth << level);
  }
  for (int level = 1; level <= kLevels; ++level) {
    const Scope up = root.child(fmt::format("up{}", level));
    x = conv_transpose_2x(b, up.child("up"), x, x.channels / 2);
    x = concat(b, up, {skips.back(), x});
    skips.pop_back();
    x = double_conv(b, up.child("conv"), x, x.channels / 2);
  }
  x = conv(b, root.child("outc").child("conv"), x, {.outputs = kClasses, .bias = true});
  b.output(x.value, "output", DType::kFloat32, {b.batch(), kClasses, kExtent, kExtent});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "unet",
    .summary = "segmentation: transposed convolutions, skip connections (Ronneberger et al., 2015)",
    .build = build};

}  // namespace assay::template_unet
