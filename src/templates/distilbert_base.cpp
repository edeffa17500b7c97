// DistilBERT base (Sanh et al., "DistilBERT, a distilled version of BERT", 2019), with the shape arithmetic
// and Constant nodes that PyTorch exports.
#include "templates/template_list.h"
#include "templates/text_encoder.h"

namespace assay::template_distilbert_base {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  const TextEncoderSpec spec = {.vocabulary = 30522,
                                .positions = 512,
                                .layers = 6,
                                .has_pooler = false,
                                .shape_arithmetic = true,
                                .layer_path = "transformer/layer.{}",
                                .names = {.query = "attention/q_lin",
                                          .key = "attention/k_lin",
                                          .value = "attention/v_lin",
                                          .attention_output = "attention/out_lin",
                                          .attention_norm = "sa_layer_norm",
                                          .inner = "ffn/lin1",
                                          .activation = "ffn/activation",
                                          .outer = "ffn/lin2",
                                          .output_norm = "output_layer_norm"}};
  return build_text_encoder(options, "distilbert_base", spec, {.constant_nodes = true});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "distilbert-base",
    .summary = "text encoder: 6 layers, shape arithmetic (Sanh et al., 2019)",
    .build = build};

}  // namespace assay::template_distilbert_base
