// ESPCN (Shi et al., "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
// Convolutional Neural Network", 2016) as in PyTorch's tutorial on exporting: three times as large.
#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_espcn {
namespace {

constexpr int64_t kExtent = 224, kFactor = 3;

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "espcn");
  const Scope root;
  Feature x = image_input(b, "input", 1, kExtent, kExtent);
  const auto layer = [&](const char* name, int64_t outputs, int64_t kernel) {
    x = conv(b, root.child(name), x, {.outputs = outputs, .kernel = kernel, .pad = kernel / 2, .bias = true});
  };
  layer("conv1", 64, 5);
  x = relu(b, root.child("relu"), x);
  layer("conv2", 64, 3);
  x = relu(b, root.child("relu"), x);
  layer("conv3", 32, 3);
  x = relu(b, root.child("relu"), x);
  layer("conv4", kFactor * kFactor, 3);
  Value* y = b.node(root.child("pixel_shuffle"), "DepthToSpace", {x.value},
                    {{"blocksize", kFactor}, {"mode", std::string("CRD")}});
  b.output(y, "output", DType::kFloat32, {b.batch(), 1, kFactor * kExtent, kFactor * kExtent});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "espcn",
    .summary = "super-resolution by 3 of 224x224, DepthToSpace (Shi et al., 2016)",
    .build = build};

}  // namespace assay::template_espcn
