// ALBERT base, version 2 (Lan et al., "ALBERT: A Lite BERT for Self-supervised Learning of Language
// Representations", 2020): one layer's weights, twelve times.
#include "templates/template_list.h"
#include "templates/text_encoder.h"

namespace assay::template_albert_base {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  const TextEncoderSpec spec = {.vocabulary = 30000,
                                .positions = 512,
                                .token_types = 2,
                                .embedding_width = 128,
                                .shares_layers = true,
                                .tanh_gelu = true,
                                .layer_path = "encoder/albert_layer_groups.{}/albert_layers.0",
                                .names = {.query = "attention/query",
                                          .key = "attention/key",
                                          .value = "attention/value",
                                          .attention_output = "attention/dense",
                                          .attention_norm = "attention/LayerNorm",
                                          .inner = "ffn",
                                          .activation = "activation",
                                          .outer = "ffn_output",
                                          .output_norm = "full_layer_layer_norm"}};
  return build_text_encoder(options, "albert_base", spec);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "albert-base",
    .summary = "text encoder: 12 layers that share their weights (Lan et al., 2020)",
    .build = build};

}  // namespace assay::template_albert_base
