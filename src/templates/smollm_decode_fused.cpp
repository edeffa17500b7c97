// SmolLM-135M, one step of generation, in the operators of opset 23.
#include "templates/language_model.h"
#include "templates/template_list.h"

namespace assay::template_smollm_decode_fused {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_language_model(options, "smollm_decode_fused", kSmolLm, LanguageMode::kFusedDecode);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "smollm-decode-fused",
    .summary = "SmolLM-135M: the same step by RMSNormalization, RotaryEmbedding and Attention",
    .min_opset = 23,
    .build = build};

}  // namespace assay::template_smollm_decode_fused
