// EfficientNetV2-S.
#include "templates/efficientnet.h"
#include "templates/template_list.h"

namespace assay::template_efficientnet_v2_s {
namespace {

constexpr EfficientNetStage kStages[] = {{1, 3, 1, 24, 2, true}, {4, 3, 2, 48, 4, true},
                                         {4, 3, 2, 64, 4, true}, {4, 3, 2, 128, 6},
                                         {6, 3, 1, 160, 9},      {6, 3, 2, 256, 15}};

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_efficientnet(options, "efficientnet_v2_s",
                            {.stages = kStages, .extent = 384, .stem = 24, .epsilon = 1e-3});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "efficientnet-v2-s",
    .summary = "image classifier: fused expansions, 384x384 (Tan and Le, 2021)",
    .build = build};

}  // namespace assay::template_efficientnet_v2_s
