// SmolLM-135M, one step of generation.
#include "templates/language_model.h"
#include "templates/template_list.h"

namespace assay::template_smollm_decode {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_language_model(options, "smollm_decode", kSmolLm, LanguageMode::kDecode);
}

}  // namespace

constinit const ModelTemplate def = {.name = "smollm-decode",
                                     .summary = "SmolLM-135M: one token after a key-value cache of 128",
                                     .build = build};

}  // namespace assay::template_smollm_decode
