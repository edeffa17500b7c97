// Pythia-160M (Biderman et al., "Pythia: A Suite for Analyzing Large Language Models", 2023), GPT-NeoX's
// architecture (Black et al., 2022): attention and network in parallel, a quarter of each head rotated; a
// prompt.
#include <fmt/core.h>

#include <limits>

#include "templates/language_model.h"
#include "templates/template_list.h"

namespace assay::template_pythia_160m {
namespace {

constexpr int64_t kVocabulary = 50304, kWidth = 768, kInner = 3072, kPrompt = 64;
constexpr Heads kHeads = {12, 64};
constexpr int64_t kRotated = 16;
constexpr int kLayers = 12;
constexpr float kEpsilon = 1e-5F;
constexpr Init kInit = Init::normal(0.03);

Value* attention(TemplateBuilder& b, const Scope& s, Value* x, Value* bias, const Rotation& rotation) {
  Value* qkv = linear(b, s.child("query_key_value"), x, kWidth, 3 * kWidth, kInit);
  qkv = transpose(b, s, reshape(b, s, qkv, {0, 0, kHeads.count, 3 * kHeads.width}), {0, 2, 1, 3});
  const std::vector<Value*> parts = split(b, s, qkv, 3, {kHeads.width, kHeads.width, kHeads.width});
  const auto rotated = [&](Value* v) {
    Value* turned = rotate(b, s, slice(b, s, v, 3, 0, kRotated), rotation, kRotated);
    return concat(b, s, {turned, slice(b, s, v, 3, kRotated, std::numeric_limits<int64_t>::max())}, -1);
  };
  // One by one: compilers do not agree on the order of a call's arguments.
  Value* key = rotated(parts[1]);
  Value* query = rotated(parts[0]);
  Value* mixed = attend(b, s, kHeads, query, key, parts[2], bias);
  return linear(b, s.child("dense"), mixed, kWidth, kWidth, kInit);
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "pythia_160m");
  const Scope root, model = root.child("gpt_neox");
  const Dim tokens = b.is_dynamic() ? Dim::symbol("sequence") : Dim(kPrompt);
  Value* ids = b.input("input_ids", DType::kInt64, {b.batch(), tokens});
  Value* positions = b.input("position_ids", DType::kInt64, {b.batch(), tokens});
  const Scope embed = model.child("embed_in");
  Value* table = b.weight(embed, "weight", {kVocabulary, kWidth}, Init::normal(0.1));
  Value* x = b.node(embed, "Gather", {table, ids}, {{"axis", int64_t{0}}});
  const Rotation rotation = rotary_positions(b, model.child("rotary_emb"), positions, kRotated, 10000);
  Value* bias = b.node(model, "Where",
                       {causal_mask(b, model, ids, 1), b.scalar(model, 0),
                        b.scalar(model, std::numeric_limits<float>::lowest())});
  for (int i = 0; i < kLayers; ++i) {
    const Scope layer = model.child(fmt::format("layers.{}", i)), mlp = layer.child("mlp");
    Value* attended =
        attention(b, layer.child("attention"),
                  layer_norm(b, layer.child("input_layernorm"), x, kWidth, kEpsilon), bias, rotation);
    Value* y = layer_norm(b, layer.child("post_attention_layernorm"), x, kWidth, kEpsilon);
    y = gelu(b, mlp.child("act"), linear(b, mlp.child("dense_h_to_4h"), y, kWidth, kInner, kInit));
    y = linear(b, mlp.child("dense_4h_to_h"), y, kInner, kWidth, kInit);
    x = b.node(layer, "Add", {b.node(layer, "Add", {y, attended}), x});
  }
  x = layer_norm(b, model.child("final_layer_norm"), x, kWidth, kEpsilon);
  x = product(b, root.child("embed_out"), x, kWidth, kVocabulary, kInit);
  b.output(x, "logits", DType::kFloat32, {b.batch(), tokens, kVocabulary});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "pythia-160m",
    .summary =
        "language model: parallel residual, partly rotated heads; a prompt of 64 (Biderman et al., 2023)",
    .build = build};

}  // namespace assay::template_pythia_160m
