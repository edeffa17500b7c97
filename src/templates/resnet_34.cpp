// ResNet-34, batch normalization folded.
#include "templates/resnet.h"
#include "templates/template_list.h"

namespace assay::template_resnet_34 {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_resnet(options, "resnet_34", {.block = ResNetBlock::kBasic, .depths = {3, 4, 6, 3}},
                      {.folds_norms = true});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "resnet-34",
    .summary = "image classifier: 3x3 residual blocks, norms folded (He et al., 2016)",
    .build = build};

}  // namespace assay::template_resnet_34
