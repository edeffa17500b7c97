// Text encoders of BERT's family, named as in Hugging Face's models: 128 tokens.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "templates/builder.h"

namespace assay {

/// Paths of a layer's parts below it, with '/' between submodules.
struct TextLayerNames {
  std::string_view query, key, value, attention_output, attention_norm, inner, activation, outer, output_norm;
};

struct TextEncoderSpec {
  int64_t vocabulary, positions;
  int64_t token_types = 0;        ///< rows of their table; 2 and more: an input token_type_ids
  int64_t embedding_width = 768;  ///< where it differs from the width, a linear layer follows
  int layers = 12;
  float epsilon = 1e-12F;
  bool shares_layers = false;     ///< one layer's weights for all (ALBERT)
  bool counts_positions = false;  ///< positions are counted over the tokens that are not padding, from 2 on
                                  ///< (RoBERTa)
  bool has_pooler = true;
  bool tanh_gelu = false;
  bool shape_arithmetic = false;  ///< heads are split by extents that the graph computes
  std::string_view layer_path;    ///< of layer {}, below the model
  TextLayerNames names;
};

std::shared_ptr<Model> build_text_encoder(const TemplateOptions& options, std::string name,
                                          const TextEncoderSpec& spec, const ExportStyle& style = {});

/// BERT's and RoBERTa's names.
inline constexpr TextLayerNames kBertNames = {.query = "attention/self/query",
                                              .key = "attention/self/key",
                                              .value = "attention/self/value",
                                              .attention_output = "attention/output/dense",
                                              .attention_norm = "attention/output/LayerNorm",
                                              .inner = "intermediate/dense",
                                              .activation = "intermediate/intermediate_act_fn",
                                              .outer = "output/dense",
                                              .output_norm = "output/LayerNorm"};

}  // namespace assay
