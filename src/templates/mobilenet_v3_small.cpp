// MobileNetV3-Small.
#include "templates/mobilenet_v3.h"
#include "templates/template_list.h"

namespace assay::template_mobilenet_v3_small {
namespace {

constexpr MobileNetV3Block kBlocks[] = {
    {3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1},
    {5, 96, 40, true, true, 2},  {5, 240, 40, true, true, 1},  {5, 240, 40, true, true, 1},
    {5, 120, 48, true, true, 1}, {5, 144, 48, true, true, 1},  {5, 288, 96, true, true, 2},
    {5, 576, 96, true, true, 1}, {5, 576, 96, true, true, 1}};

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_mobilenet_v3(options, "mobilenet_v3_small",
                            {.blocks = kBlocks, .hidden = 1024, .swish = Nonlinearity::kClipSwish});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mobilenet-v3-small",
    .summary = "image classifier: hard swish written with Clip (Howard et al., 2019)",
    .build = build};

}  // namespace assay::template_mobilenet_v3_small
