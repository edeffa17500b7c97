// DeepLabV3 on a dilated ResNet-50 (Chen et al., "Rethinking Atrous Convolution for Semantic Image
// Segmentation", 2017), as torchvision builds it with its auxiliary classifier, for 21 classes.
#include "templates/resnet.h"
#include "templates/template_list.h"

namespace assay::template_deeplab_v3 {
namespace {

constexpr int64_t kExtent = 320;
constexpr int64_t kClasses = 21;

Feature conv_norm_relu(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec) {
  return relu(b, s.item(2), conv_norm(b, s.item(0), s.item(1), x, spec));
}

/// Atrous spatial pyramid pooling: convolutions of several dilations in parallel with the image's mean.
Feature pyramid(TemplateBuilder& b, const Scope& s, const Feature& x) {
  constexpr int64_t kWidth = 256;
  const Scope convs = s.child("convs");
  std::vector<Feature> parts = {conv_norm_relu(b, convs.item(0), x, {.outputs = kWidth})};
  int i = 1;
  for (const int64_t rate : {12, 24, 36})
    parts.push_back(conv_norm_relu(b, convs.item(i++), x,
                                   {.outputs = kWidth, .kernel = 3, .pad = rate, .dilation = rate}));
  const Scope pool = convs.item(i);
  Feature mean = global_pool(b, pool.item(0), x);
  // A mean varies less between images than values within an image.
  mean.moments = x.moments;
  for (float& v : mean.moments.variance) v *= 0.0625F;
  mean = conv_norm(b, pool.item(1), pool.item(2), mean, {.outputs = kWidth});
  parts.push_back(resize_bilinear(b, pool, relu(b, pool.item(3), mean), x.height, x.width));
  return conv_norm_relu(b, s.child("project"), concat(b, s, parts), {.outputs = kWidth});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "deeplab_v3");
  const Scope root;
  const Feature image = image_input(b, "input", 3, kExtent, kExtent);
  const std::vector<Feature> stages =
      resnet_stages(b, root.child("backbone"), image, {.depths = {3, 4, 6, 3}, .dilated_stages = 2});
  const auto head = [&](const Scope& s, const Feature& x, int first, int64_t width, const char* output) {
    const ConvSpec spec = {.outputs = width, .kernel = 3, .pad = 1};
    Feature y = relu(b, s.item(first + 2), conv_norm(b, s.item(first), s.item(first + 1), x, spec));
    const int last = first == 0 ? 4 : first + 3;  // torchvision's FCNHead has a Dropout before it
    y = conv(b, s.item(last), y, {.outputs = kClasses, .bias = true});
    y = resize_bilinear(b, root, y, kExtent, kExtent);
    b.output(y.value, output, DType::kFloat32, {b.batch(), kClasses, kExtent, kExtent});
  };
  const Scope classifier = root.child("classifier");
  head(classifier, pyramid(b, classifier.item(0), stages[3]), 1, 256, "out");
  head(root.child("aux_classifier"), stages[2], 0, 256, "aux");
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "deeplab-v3",
    .summary = "segmentation: dilated ResNet-50, spatial pyramid, 320x320 (Chen et al., 2017)",
    .build = build};

}  // namespace assay::template_deeplab_v3
