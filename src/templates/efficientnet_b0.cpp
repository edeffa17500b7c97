// EfficientNet-B0.
#include "templates/efficientnet.h"
#include "templates/template_list.h"

namespace assay::template_efficientnet_b0 {
namespace {

constexpr EfficientNetStage kStages[] = {{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2},
                                         {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4},
                                         {6, 3, 1, 320, 1}};

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_efficientnet(options, "efficientnet_b0", {.stages = kStages, .extent = 224, .stem = 32});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "efficientnet-b0",
    .summary = "image classifier: SiLU, squeeze-and-excitation (Tan and Le, 2019)",
    .build = build};

}  // namespace assay::template_efficientnet_b0
