#include "templates/whisper.h"

namespace assay {

Value* whisper_norm(TemplateBuilder& b, const Scope& s, Value* x) {
  return layer_norm(b, s, x, kWhisperWidth, 1e-5F);
}

Value* whisper_heads(TemplateBuilder& b, const Scope& s, std::string_view name, Value* x) {
  const Init init = Init::lecun_normal(kWhisperWidth);
  Value* y = name == "k_proj" ? product(b, s.child(name), x, kWhisperWidth, kWhisperWidth, init)
                              : linear(b, s.child(name), x, kWhisperWidth, kWhisperWidth, init);
  return split_heads(b, s, y, kWhisperHeads.count, kWhisperHeads.width);
}

Value* whisper_attention(TemplateBuilder& b, const Scope& s, Value* query, Value* key, Value* value) {
  return linear(b, s.child("out_proj"), attend(b, s, kWhisperHeads, query, key, value), kWhisperWidth,
                kWhisperWidth, Init::lecun_normal(kWhisperWidth));
}

Value* whisper_network(TemplateBuilder& b, const Scope& layer, Value* x) {
  constexpr int64_t kInner = 4 * kWhisperWidth;
  Value* y = whisper_norm(b, layer.child("final_layer_norm"), x);
  y = linear(b, layer.child("fc1"), y, kWhisperWidth, kInner, Init::lecun_normal(kWhisperWidth));
  y = linear(b, layer.child("fc2"), gelu(b, layer.child("activation_fn"), y), kInner, kWhisperWidth,
             Init::lecun_normal(kInner));
  return b.node(layer, "Add", {x, y});
}

}  // namespace assay
