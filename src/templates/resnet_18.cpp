// ResNet-18.
#include "templates/resnet.h"
#include "templates/template_list.h"

namespace assay::template_resnet_18 {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_resnet(options, "resnet_18", {.block = ResNetBlock::kBasic, .depths = {2, 2, 2, 2}});
}

}  // namespace

constinit const ModelTemplate def = {.name = "resnet-18",
                                     .summary = "image classifier: 3x3 residual blocks (He et al., 2016)",
                                     .build = build};

}  // namespace assay::template_resnet_18
