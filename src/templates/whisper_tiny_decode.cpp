// Whisper tiny's decoder, one token after a cache of 32: keys and values of the audio are inputs.
#include <fmt/core.h>

#include "templates/template_list.h"
#include "templates/whisper.h"

namespace assay::template_whisper_tiny_decode {
namespace {

constexpr int64_t kVocabulary = 51865, kPositions = 448, kPast = 32;

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "whisper_tiny_decode");
  const Scope root, decoder = root.at("model/decoder");
  const Dim past = b.is_dynamic() ? Dim::symbol("past_sequence") : Dim(kPast);
  const Dim total = b.is_dynamic() ? Dim::symbol("total_sequence") : Dim(kPast + 1);
  Value* ids = b.input("input_ids", DType::kInt64, {b.batch(), 1});
  const auto cache = [&](int layer, const char* kind, const Dim& length) {
    return b.input(fmt::format("past_key_values.{}.{}", layer, kind), DType::kFloat32,
                   {b.batch(), kWhisperHeads.count, length, kWhisperHeads.width});
  };
  std::vector<std::vector<Value*>> caches;
  for (int i = 0; i < kWhisperLayers; ++i)
    caches.push_back({cache(i, "decoder.key", past), cache(i, "decoder.value", past),
                      cache(i, "encoder.key", kWhisperFrames), cache(i, "encoder.value", kWhisperFrames)});
  Value* table =
      b.weight(decoder.child("embed_tokens"), "weight", {kVocabulary, kWhisperWidth}, Init::normal(0.1));
  Value* x = b.node(decoder.child("embed_tokens"), "Gather", {table, ids}, {{"axis", int64_t{0}}});
  const Scope positions = decoder.child("embed_positions");
  Value* start = extent(b, positions, caches[0][0], 2);
  Value* end = b.node(positions, "Add", {start, b.ints(positions, {1})});
  Value* rows = b.weight(positions, "weight", {kPositions, kWhisperWidth}, Init::normal(0.1));
  x = b.node(decoder, "Add", {x, b.node(positions, "Slice", {rows, start, end, b.ints(positions, {0})})});
  std::vector<std::pair<Value*, Value*>> present;
  for (int i = 0; i < kWhisperLayers; ++i) {
    const Scope layer = decoder.child(fmt::format("layers.{}", i)), s = layer.child("self_attn"),
                cross = layer.child("encoder_attn");
    const std::vector<Value*>& c = caches[static_cast<size_t>(i)];
    Value* y = whisper_norm(b, layer.child("self_attn_layer_norm"), x);
    Value* query = whisper_heads(b, s, "q_proj", y);
    Value* key = concat(b, s, {c[0], whisper_heads(b, s, "k_proj", y)}, 2);
    Value* value = concat(b, s, {c[1], whisper_heads(b, s, "v_proj", y)}, 2);
    present.emplace_back(key, value);
    x = b.node(layer, "Add", {x, whisper_attention(b, s, query, key, value)});
    query = whisper_heads(b, cross, "q_proj", whisper_norm(b, layer.child("encoder_attn_layer_norm"), x));
    x = b.node(layer, "Add", {x, whisper_attention(b, cross, query, c[2], c[3])});
    x = whisper_network(b, layer, x);
  }
  x = whisper_norm(b, decoder.child("layer_norm"), x);
  const Scope head = root.child("proj_out");
  Value* logits = b.node(head, "MatMul", {x, transpose(b, head, table, {1, 0})});
  b.output(logits, "logits", DType::kFloat32, {b.batch(), 1, kVocabulary});
  const Dims dims = {b.batch(), kWhisperHeads.count, total, kWhisperHeads.width};
  for (int i = 0; i < kWhisperLayers; ++i) {
    b.output(present[static_cast<size_t>(i)].first, fmt::format("present.{}.decoder.key", i), DType::kFloat32,
             dims);
    b.output(present[static_cast<size_t>(i)].second, fmt::format("present.{}.decoder.value", i),
             DType::kFloat32, dims);
  }
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "whisper-tiny-decode",
    .summary = "speech decoder: one token, caches of 32 tokens and 30 s (Radford et al., 2022)",
    .build = build};

}  // namespace assay::template_whisper_tiny_decode
