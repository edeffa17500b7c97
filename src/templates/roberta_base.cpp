// RoBERTa base (Liu et al., "RoBERTa: A Robustly Optimized BERT Pretraining Approach", 2019), with layer
// normalization and GELU as older exporters wrote them.
#include "templates/template_list.h"
#include "templates/text_encoder.h"

namespace assay::template_roberta_base {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  const TextEncoderSpec spec = {.vocabulary = 50265,
                                .positions = 514,
                                .token_types = 1,
                                .epsilon = 1e-5F,
                                .counts_positions = true,
                                .layer_path = "encoder/layer.{}",
                                .names = kBertNames};
  return build_text_encoder(options, "roberta_base", spec, {.decomposes = true});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "roberta-base",
    .summary = "text encoder: decomposed norms, positions counted by CumSum (Liu et al., 2019)",
    .build = build};

}  // namespace assay::template_roberta_base
