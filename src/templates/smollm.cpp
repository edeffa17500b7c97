// SmolLM-135M (Hugging Face, 2024; Llama's architecture), a prompt.
#include "templates/language_model.h"
#include "templates/template_list.h"

namespace assay::template_smollm {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_language_model(options, "smollm", kSmolLm, LanguageMode::kPrefill);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "smollm",
    .summary = "language model: GQA, rotary positions, RMSNorm, SwiGLU; a prompt of 64 (SmolLM-135M)",
    .build = build};

}  // namespace assay::template_smollm
