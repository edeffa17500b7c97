// ViT-B/16.
#include "templates/template_list.h"
#include "templates/vision_transformer.h"

namespace assay::template_vit_b_16 {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_vision_transformer(options, "vit_b_16", {.width = 768, .heads = 12, .layers = 12});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "vit-b-16",
    .summary = "image classifier: vision transformer (Dosovitskiy et al., 2021)",
    .build = build};

}  // namespace assay::template_vit_b_16
