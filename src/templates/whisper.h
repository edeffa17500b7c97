// Whisper tiny (Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022), named as
// in Hugging Face's WhisperForConditionalGeneration.
#pragma once

#include "templates/builder.h"
#include "templates/layers.h"

namespace assay {

inline constexpr int64_t kWhisperWidth = 384, kWhisperFrames = 1500;
inline constexpr Heads kWhisperHeads = {6, 64};
inline constexpr int kWhisperLayers = 4;

Value* whisper_norm(TemplateBuilder& b, const Scope& s, Value* x);
/// A projection of x in heads; that of the keys has no bias.
Value* whisper_heads(TemplateBuilder& b, const Scope& s, std::string_view name, Value* x);
/// Attention and its output projection.
Value* whisper_attention(TemplateBuilder& b, const Scope& s, Value* query, Value* key, Value* value);
/// The feed-forward network after the attention of a layer, added to x.
Value* whisper_network(TemplateBuilder& b, const Scope& layer, Value* x);

}  // namespace assay
