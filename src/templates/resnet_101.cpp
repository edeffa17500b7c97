// ResNet-101, batch normalization folded.
#include "templates/resnet.h"
#include "templates/template_list.h"

namespace assay::template_resnet_101 {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_resnet(options, "resnet_101", {.depths = {3, 4, 23, 3}}, {.folds_norms = true});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "resnet-101",
    .summary = "image classifier: bottleneck residual blocks, norms folded (He et al., 2016)",
    .build = build};

}  // namespace assay::template_resnet_101
