// BERT base, uncased (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019).
#include "templates/template_list.h"
#include "templates/text_encoder.h"

namespace assay::template_bert_base {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  const TextEncoderSpec spec = {.vocabulary = 30522,
                                .positions = 512,
                                .token_types = 2,
                                .layer_path = "encoder/layer.{}",
                                .names = kBertNames};
  return build_text_encoder(options, "bert_base", spec);
}

}  // namespace

constinit const ModelTemplate def = {.name = "bert-base",
                                     .summary = "text encoder: 12 layers, 128 tokens (Devlin et al., 2019)",
                                     .build = build};

}  // namespace assay::template_bert_base
