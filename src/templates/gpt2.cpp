// GPT-2 small, a whole prompt in one run.
#include "templates/gpt2_layers.h"
#include "templates/template_list.h"

namespace assay::template_gpt2 {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_gpt2(options, "gpt2", Gpt2Mode::kPrefill);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "gpt2",
    .summary = "language model: a prompt of 64 tokens, gives the key-value cache (Radford et al., 2019)",
    .build = build};

}  // namespace assay::template_gpt2
