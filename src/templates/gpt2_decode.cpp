// GPT-2 small, one step of generation.
#include "templates/gpt2_layers.h"
#include "templates/template_list.h"

namespace assay::template_gpt2_decode {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_gpt2(options, "gpt2_decode", Gpt2Mode::kDecode);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "gpt2-decode",
    .summary = "language model: one token after a key-value cache of 64 (Radford et al., 2019)",
    .build = build};

}  // namespace assay::template_gpt2_decode
