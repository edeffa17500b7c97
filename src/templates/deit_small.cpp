// DeiT-S (Touvron et al., "Training data-efficient image transformers & distillation through attention",
// 2021).
#include "templates/template_list.h"
#include "templates/vision_transformer.h"

namespace assay::template_deit_small {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_vision_transformer(options, "deit_small", {.width = 384, .heads = 6, .layers = 12},
                                  {.constant_nodes = true});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "deit-small",
    .summary = "image classifier: vision transformer, small (Touvron et al., 2021)",
    .build = build};

}  // namespace assay::template_deit_small
