// Decoder-only language models with rotary positions: Llama's layers (Touvron et al., "LLaMA: Open and
// Efficient Foundation Language Models", 2023) with grouped-query attention (Ainslie et al., 2023), RMSNorm
// and SwiGLU, dense or as a mixture of experts; named as in Hugging Face's models.
#pragma once

#include <memory>
#include <string>

#include "templates/builder.h"
#include "templates/layers.h"

namespace assay {

/// x times the inverse root of its mean square over the last axis, times the weight "weight" [width].
Value* rms_norm(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, float epsilon);

/// Cosines and sines of positions [batch, tokens], each [batch, 1, tokens, width], both halves alike.
struct Rotation {
  Value *cosine, *sine;
};
Rotation rotary_positions(TemplateBuilder& b, const Scope& s, Value* position_ids, int64_t width,
                          double base);
/// x of [batch, heads, tokens, width] rotated, halves against each other.
Value* rotate(TemplateBuilder& b, const Scope& s, Value* x, const Rotation& r, int64_t width);
/// True where a query [queries] may attend to a key [keys], [queries, keys], the last query being the last
/// key's.
Value* causal_mask(TemplateBuilder& b, const Scope& s, Value* tokens, int64_t axis);

enum class LanguageMode : uint8_t {
  kPrefill,      ///< a prompt of 64 tokens; outputs the key-value cache
  kDecode,       ///< one token after a cache of 128
  kFusedDecode,  ///< the same with the operators of opset 23: RMSNormalization, RotaryEmbedding, Attention
};

struct LanguageSpec {
  int64_t vocabulary, width, query_heads, key_heads, inner;
  int layers;
  double rotary_base = 10000;
  int64_t experts = 0;  ///< 0: a dense network; else the number of experts, two for each token
};

std::shared_ptr<Model> build_language_model(const TemplateOptions& options, std::string name,
                                            const LanguageSpec& spec, LanguageMode mode);

/// SmolLM-135M (Hugging Face, 2024).
inline constexpr LanguageSpec kSmolLm = {
    .vocabulary = 49152, .width = 576, .query_heads = 9, .key_heads = 3, .inner = 1536, .layers = 30};

}  // namespace assay
