// A mixture of experts in Mixtral's form (Jiang et al., 2024), smaller than the published ones: 4 layers of
// width 512 with 8 experts of width 1408.
#include "templates/language_model.h"
#include "templates/template_list.h"

namespace assay::template_mixture_of_experts {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_language_model(options, "mixture_of_experts",
                              {.vocabulary = 32000,
                               .width = 512,
                               .query_heads = 8,
                               .key_heads = 2,
                               .inner = 1408,
                               .layers = 4,
                               .rotary_base = 1e6,
                               .experts = 8},
                              LanguageMode::kPrefill);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mixture-of-experts",
    .summary = "language model: 2 of 8 experts per token by TopK, 4 layers (after Jiang et al., 2024)",
    .min_opset = 16,
    .is_data_dependent = true,
    .build = build};

}  // namespace assay::template_mixture_of_experts
