// T5 small's encoder (Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
// Transformer", 2020), named as in Hugging Face's T5EncoderModel: relative positions in buckets that the
// graph computes.
#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "templates/language_model.h"
#include "templates/template_list.h"

namespace assay::template_t5_small_encoder {
namespace {

constexpr int64_t kVocabulary = 32128, kWidth = 512, kInner = 2048, kSequence = 128;
constexpr Heads kHeads = {8, 64};
constexpr int kLayers = 6;
constexpr int64_t kBuckets = 32, kMaxDistance = 128;
constexpr float kEpsilon = 1e-6F;
const Init kInit = Init::lecun_normal(kWidth);

/// The bucket of key - query, [sequence, sequence]: half of the buckets for each sign, half of these for
/// single distances and the others for growing ranges.
Value* buckets(TemplateBuilder& b, const Scope& s, Value* ids) {
  const auto number = [&](int64_t n) { return b.constant(s, Tensor::scalar(n)); };
  const auto cast = [&](Value* v, DType to) {
    return b.node(s, "Cast", {v}, {{"to", static_cast<int64_t>(to)}});
  };
  constexpr int64_t kHalf = kBuckets / 2, kExact = kHalf / 2;
  Value* length = b.node(s, "Gather", {b.node(s, "Shape", {ids}), number(1)}, {{"axis", int64_t{0}}});
  Value* range = b.node(s, "Range", {number(0), length, number(1)});
  Value* distance = b.node(s, "Sub", {unsqueeze(b, s, range, {0}), unsqueeze(b, s, range, {1})});
  Value* side =
      b.node(s, "Mul", {cast(b.node(s, "Greater", {distance, number(0)}), DType::kInt64), number(kHalf)});
  distance = b.node(s, "Abs", {distance});
  Value* share = b.node(s, "Div", {cast(distance, DType::kFloat32), b.scalar(s, kExact)});
  Value* steps =
      b.node(s, "Div",
             {b.node(s, "Log", {share}), b.scalar(s, std::log(static_cast<float>(kMaxDistance) / kExact))});
  Value* large = cast(b.node(s, "Mul", {steps, b.scalar(s, kHalf - kExact)}), DType::kInt64);
  large = b.node(s, "Min", {b.node(s, "Add", {large, number(kExact)}), number(kHalf - 1)});
  Value* bucket = b.node(s, "Where", {b.node(s, "Less", {distance, number(kExact)}), distance, large});
  return b.node(s, "Add", {side, bucket});
}

Value* attention(TemplateBuilder& b, const Scope& s, Value* x, Value* bias) {
  const auto heads = [&](const char* name, const Init& init) {
    return split_heads(b, s, product(b, s.child(name), x, kWidth, kWidth, init), kHeads.count, kHeads.width);
  };
  // The query's weights are scaled down instead of the scores.
  Value* query = heads("q", Init::lecun_normal(kWidth * kHeads.width));
  Value *key = heads("k", kInit), *value = heads("v", kInit);
  Value* scores = b.node(s, "MatMul", {query, transpose(b, s, key, {0, 1, 3, 2})});
  Value* weights = softmax(b, s, b.node(s, "Add", {scores, bias}));
  Value* mixed = merge_heads(b, s, b.node(s, "MatMul", {weights, value}), kHeads.count, kHeads.width);
  return product(b, s.child("o"), mixed, kWidth, kWidth, kInit);
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "t5_small_encoder");
  const Scope root, encoder = root.child("encoder"), shared = root.child("shared");
  const Dim sequence = b.is_dynamic() ? Dim::symbol("sequence") : Dim(kSequence);
  Value* ids = b.input("input_ids", DType::kInt64, {b.batch(), sequence});
  Value* attention_mask = b.input("attention_mask", DType::kInt64, {b.batch(), sequence});
  Value* table = b.weight(shared, "weight", {kVocabulary, kWidth}, Init::normal(1.0));
  Value* x = b.node(shared, "Gather", {table, ids}, {{"axis", int64_t{0}}});
  const Scope block0 = encoder.at("block.0/layer.0/SelfAttention"),
              relative = block0.child("relative_attention_bias");
  Value* biases = b.node(
      relative, "Gather",
      {b.weight(relative, "weight", {kBuckets, kHeads.count}, Init::normal(1.0)), buckets(b, block0, ids)},
      {{"axis", int64_t{0}}});
  Value* bias = unsqueeze(b, block0, transpose(b, block0, biases, {2, 0, 1}), {0});
  Value* mask = b.node(encoder, "Cast", {unsqueeze(b, encoder, attention_mask, {1, 2})},
                       {{"to", static_cast<int64_t>(DType::kFloat32)}});
  mask = b.node(encoder, "Mul",
                {b.node(encoder, "Sub", {b.scalar(encoder, 1), mask}),
                 b.scalar(encoder, std::numeric_limits<float>::lowest())});
  bias = b.node(encoder, "Add", {bias, mask});
  for (int i = 0; i < kLayers; ++i) {
    const Scope first = encoder.at(fmt::format("block.{}/layer.0", i));
    const Scope second = encoder.at(fmt::format("block.{}/layer.1", i)),
                dense = second.child("DenseReluDense");
    Value* y = rms_norm(b, first.child("layer_norm"), x, kWidth, kEpsilon);
    x = b.node(first, "Add", {x, attention(b, first.child("SelfAttention"), y, bias)});
    y = rms_norm(b, second.child("layer_norm"), x, kWidth, kEpsilon);
    y = b.node(dense.child("act"), "Relu", {product(b, dense.child("wi"), y, kWidth, kInner, kInit)});
    x = b.node(second, "Add",
               {x, product(b, dense.child("wo"), y, kInner, kWidth, Init::lecun_normal(kInner))});
  }
  x = rms_norm(b, encoder.child("final_layer_norm"), x, kWidth, kEpsilon);
  b.output(x, "last_hidden_state", DType::kFloat32, {b.batch(), sequence, kWidth});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "t5-small-encoder",
    .summary = "text encoder: relative position buckets, RMSNorm, 128 tokens (Raffel et al., 2020)",
    .min_opset = 12,
    .build = build};

}  // namespace assay::template_t5_small_encoder
