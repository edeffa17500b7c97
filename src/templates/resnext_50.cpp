// ResNeXt-50 32x4d (Xie et al., "Aggregated Residual Transformations for Deep Neural Networks", 2017), as
// torchvision builds it.
#include "templates/resnet.h"
#include "templates/template_list.h"

namespace assay::template_resnext_50 {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_resnet(options, "resnext_50", {.depths = {3, 4, 6, 3}, .groups = 32, .width_per_group = 4});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "resnext-50",
    .summary = "image classifier: residual blocks with grouped convolutions, 32x4d (Xie et al., 2017)",
    .build = build};

}  // namespace assay::template_resnext_50
