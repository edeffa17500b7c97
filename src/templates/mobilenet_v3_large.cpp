// MobileNetV3-Large.
#include "templates/mobilenet_v3.h"
#include "templates/template_list.h"

namespace assay::template_mobilenet_v3_large {
namespace {

constexpr MobileNetV3Block kBlocks[] = {
    {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
    {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
    {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
    {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
    {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1}};

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_mobilenet_v3(options, "mobilenet_v3_large", {.blocks = kBlocks, .hidden = 1280});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mobilenet-v3-large",
    .summary = "image classifier: HardSwish, squeeze-and-excitation (Howard et al., 2019)",
    .build = build};

}  // namespace assay::template_mobilenet_v3_large
