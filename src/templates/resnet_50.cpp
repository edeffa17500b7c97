// ResNet-50.
#include "templates/resnet.h"
#include "templates/template_list.h"

namespace assay::template_resnet_50 {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_resnet(options, "resnet_50", {.depths = {3, 4, 6, 3}});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "resnet-50",
    .summary = "image classifier: bottleneck residual blocks, version 1.5 (He et al., 2016)",
    .build = build};

}  // namespace assay::template_resnet_50
