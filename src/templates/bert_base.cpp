// BERT base, uncased (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019), named as
// in Hugging Face's BertModel.
#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_bert_base {
namespace {

constexpr int64_t kWidth = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int kLayers = 12;
constexpr int64_t kInner = 3072;
constexpr int64_t kVocabulary = 30522;
constexpr int64_t kPositions = 512;
constexpr int64_t kSequence = 128;
constexpr float kEpsilon = 1e-12F;
constexpr Init kInit = Init::truncated_normal(0.02);

/// 0, 1, 2, ...: the positions of the tokens, [1, sequence].
Value* position_ids(TemplateBuilder& b, const Scope& s, Value* input_ids) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < (b.is_dynamic() ? kPositions : kSequence); ++i) ids.push_back(i);
  Value* table = b.constant(s, Tensor::from({1, static_cast<int64_t>(ids.size())}, ids));
  if (!b.is_dynamic()) return table;
  Value* shape = b.node(s, "Shape", {input_ids});
  Value* length = b.node(s, "Gather", {shape, b.ints(s, {1})}, {{"axis", int64_t{0}}});
  return b.node(s, "Slice", {table, b.ints(s, {0}), length, b.ints(s, {1})});
}

Value* embeddings(TemplateBuilder& b, const Scope& s, Value* input_ids, Value* token_types) {
  const auto look_up = [&](const char* table, int64_t rows, Value* ids) {
    const Scope t = s.child(table);
    return b.node(t, "Gather", {b.weight(t, "weight", {rows, kWidth}, kInit), ids}, {{"axis", int64_t{0}}});
  };
  Value* words = look_up("word_embeddings", kVocabulary, input_ids);
  Value* types = look_up("token_type_embeddings", 2, token_types);
  Value* positions = look_up("position_embeddings", kPositions, position_ids(b, s, input_ids));
  Value* sum = b.node(s, "Add", {b.node(s, "Add", {words, types}), positions});
  return layer_norm(b, s.child("LayerNorm"), sum, kWidth, kEpsilon);
}

/// What is added to the scores, [batch, 1, 1, sequence]: 0 where the mask is set, else the lowest float.
Value* score_bias(TemplateBuilder& b, const Scope& root, Value* attention_mask) {
  Value* mask = unsqueeze(b, root, attention_mask, {1, 2});
  mask = b.node(root, "Cast", {mask}, {{"to", static_cast<int64_t>(DType::kBool)}});
  return b.node(root, "Where",
                {mask, b.scalar(root, 0), b.scalar(root, std::numeric_limits<float>::lowest())});
}

Value* self_attention(TemplateBuilder& b, const Scope& s, Value* x, Value* bias) {
  Value* query = split_heads(b, s, linear(b, s.child("query"), x, kWidth, kWidth, kInit), kHeads, kHeadWidth);
  Value* key = linear(b, s.child("key"), x, kWidth, kWidth, kInit);
  key = transpose(b, s, reshape(b, s, key, {0, 0, kHeads, kHeadWidth}), {0, 2, 3, 1});
  Value* value = split_heads(b, s, linear(b, s.child("value"), x, kWidth, kWidth, kInit), kHeads, kHeadWidth);
  Value* scores =
      b.node(s, "Div", {b.node(s, "MatMul", {query, key}), b.scalar(s, std::sqrt(float{kHeadWidth}))});
  Value* weights = softmax(b, s, b.node(s, "Add", {scores, bias}));
  return merge_heads(b, s, b.node(s, "MatMul", {weights, value}), kHeads, kHeadWidth);
}

Value* layer(TemplateBuilder& b, const Scope& s, Value* x, Value* bias) {
  const Scope attention = s.child("attention"), output = s.child("output");
  const auto add_and_norm = [&](const Scope& at, Value* branch, Value* stream) {
    return layer_norm(b, at.child("LayerNorm"), b.node(at, "Add", {branch, stream}), kWidth, kEpsilon);
  };
  Value* attended = self_attention(b, attention.child("self"), x, bias);
  const Scope projection = attention.child("output");
  attended = linear(b, projection.child("dense"), attended, kWidth, kWidth, kInit);
  x = add_and_norm(projection, attended, x);
  const Scope intermediate = s.child("intermediate");
  Value* inner = linear(b, intermediate.child("dense"), x, kWidth, kInner, kInit);
  inner = gelu(b, intermediate.child("intermediate_act_fn"), inner);
  return add_and_norm(output, linear(b, output.child("dense"), inner, kInner, kWidth, kInit), x);
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "bert_base");
  const Scope root;
  const Dim sequence = b.is_dynamic() ? Dim::symbol("sequence") : Dim(kSequence);
  const Dims ids = {b.batch(), sequence};
  Value* input_ids = b.input("input_ids", DType::kInt64, ids);
  Value* attention_mask = b.input("attention_mask", DType::kInt64, ids);
  Value* token_types = b.input("token_type_ids", DType::kInt64, ids);

  Value* x = embeddings(b, root.child("embeddings"), input_ids, token_types);
  Value* bias = score_bias(b, root, attention_mask);
  for (int i = 0; i < kLayers; ++i)
    x = layer(b, root.child("encoder").child(fmt::format("layer.{}", i)), x, bias);

  const Scope pooler = root.child("pooler");
  Value* first =
      b.node(pooler, "Gather", {x, b.constant(pooler, Tensor::scalar(int64_t{0}))}, {{"axis", int64_t{1}}});
  Value* pooled = fully_connected(b, pooler.child("dense"), first, kWidth, kWidth, kInit);
  pooled = b.node(pooler.child("activation"), "Tanh", {pooled});
  b.output(x, "last_hidden_state", DType::kFloat32, {b.batch(), sequence, kWidth});
  b.output(pooled, "pooler_output", DType::kFloat32, {b.batch(), kWidth});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {.name = "bert-base",
                                     .summary = "text encoder: 12 layers, 128 tokens (Devlin et al., 2019)",
                                     .build = build};

}  // namespace assay::template_bert_base
