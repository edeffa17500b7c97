#include "templates/text_encoder.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "templates/conv_net.h"
#include "templates/layers.h"

namespace assay {
namespace text_encoder_parts {

constexpr int64_t kWidth = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int64_t kInner = 3072;
constexpr int64_t kSequence = 128;
constexpr Init kInit = Init::truncated_normal(0.02);

class TextEncoder {
 public:
  TextEncoder(const TemplateOptions& options, std::string name, const TextEncoderSpec& spec,
              const ExportStyle& style)
      : b_(options, std::move(name), style), spec_(spec) {}

  std::shared_ptr<Model> build();

 private:
  /// 0, 1, 2, ...: the positions of the tokens, [1, sequence].
  Value* position_ids(const Scope& s);
  Value* counted_positions(const Scope& s);
  Value* embeddings(const Scope& s);
  Value* score_bias(const Scope& root);
  Value* heads(const Scope& s, Value* x, const std::vector<int64_t>& permutation);
  Value* attention(const Scope& s, Value* x, Value* bias);
  Value* layer(const Scope& s, Value* x, Value* bias);
  /// linear() whose weights are created once in a model that shares them.
  Value* dense(const Scope& s, Value* x, int64_t inputs, int64_t outputs);
  Value* norm(const Scope& s, Value* x);

  TemplateBuilder b_;
  const TextEncoderSpec& spec_;
  Value *input_ids_ = nullptr, *attention_mask_ = nullptr, *token_types_ = nullptr;
  std::map<std::string, std::pair<Value*, Value*>> shared_;  ///< weight and bias by path
};

Value* TextEncoder::dense(const Scope& s, Value* x, int64_t inputs, int64_t outputs) {
  auto [at, is_new] = shared_.try_emplace(s.path());
  if (is_new)
    at->second = {b_.weight(s, "weight", {inputs, outputs}, kInit),
                  b_.weight(s, "bias", {outputs}, Init::normal(0.02))};
  return b_.node(s, "Add", {at->second.second, b_.node(s, "MatMul", {x, at->second.first})});
}

Value* TextEncoder::norm(const Scope& s, Value* x) {
  auto [at, is_new] = shared_.try_emplace(s.path());
  if (is_new)
    at->second = {b_.weight(s, "weight", {kWidth}, Init::normal(0.1, 1.0)),
                  b_.weight(s, "bias", {kWidth}, Init::normal(0.05))};
  return layer_norm(b_, s, x, at->second.first, at->second.second, spec_.epsilon);
}

Value* TextEncoder::position_ids(const Scope& s) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < (b_.is_dynamic() ? spec_.positions : kSequence); ++i) ids.push_back(i);
  Value* table = b_.constant(s, Tensor::from({1, static_cast<int64_t>(ids.size())}, ids));
  if (!b_.is_dynamic()) return table;
  Value* shape = b_.node(s, "Shape", {input_ids_});
  Value* length = b_.node(s, "Gather", {shape, b_.ints(s, {1})}, {{"axis", int64_t{0}}});
  return b_.node(s, "Slice", {table, b_.ints(s, {0}), length, b_.ints(s, {1})});
}

/// Padding has the token 1 and the position 1.
Value* TextEncoder::counted_positions(const Scope& s) {
  Value* padding = b_.constant(s, Tensor::scalar(int64_t{1}));
  Value* is_token = b_.node(s, "Not", {b_.node(s, "Equal", {input_ids_, padding})});
  Value* mask = b_.node(s, "Cast", {is_token}, {{"to", static_cast<int64_t>(DType::kInt32)}});
  Value* count = b_.node(s, "CumSum", {mask, b_.constant(s, Tensor::scalar(int64_t{1}))});
  Value* ids =
      b_.node(s, "Cast", {b_.node(s, "Mul", {count, mask})}, {{"to", static_cast<int64_t>(DType::kInt64)}});
  return b_.node(s, "Add", {ids, padding});
}

Value* TextEncoder::embeddings(const Scope& s) {
  const int64_t width = spec_.embedding_width;
  const auto look_up = [&](const char* table, int64_t rows, Value* ids) {
    const Scope t = s.child(table);
    return b_.node(t, "Gather", {b_.weight(t, "weight", {rows, width}, kInit), ids}, {{"axis", int64_t{0}}});
  };
  Value* x = look_up("word_embeddings", spec_.vocabulary, input_ids_);
  if (spec_.token_types > 0) {
    Value* types = token_types_;
    if (types == nullptr)
      types = b_.node(
          s, "Expand",
          {b_.constant(s, Tensor::from({1, 1}, std::vector<int64_t>{0})), b_.node(s, "Shape", {input_ids_})});
    x = b_.node(s, "Add", {x, look_up("token_type_embeddings", spec_.token_types, types)});
  }
  Value* ids = spec_.counts_positions ? counted_positions(s) : position_ids(s);
  x = b_.node(s, "Add", {x, look_up("position_embeddings", spec_.positions, ids)});
  return layer_norm(b_, s.child("LayerNorm"), x, width, spec_.epsilon);
}

/// The bias of the scores, [batch, 1, 1, sequence]: 0 where the mask is set, else the lowest float.
Value* TextEncoder::score_bias(const Scope& root) {
  Value* mask = unsqueeze(b_, root, attention_mask_, {1, 2});
  mask = b_.node(root, "Cast", {mask}, {{"to", static_cast<int64_t>(DType::kBool)}});
  return b_.node(root, "Where",
                 {mask, b_.scalar(root, 0), b_.scalar(root, std::numeric_limits<float>::lowest())});
}

/// [batch, sequence, heads, width] with its axes permuted.
Value* TextEncoder::heads(const Scope& s, Value* x, const std::vector<int64_t>& permutation) {
  Value* parts = spec_.shape_arithmetic ? reshape_to(b_, s, x,
                                                     {extent(b_, s, x, 0), b_.ints(s, {-1}),
                                                      b_.ints(s, {kHeads}), b_.ints(s, {kHeadWidth})})
                                        : reshape(b_, s, x, {0, 0, kHeads, kHeadWidth});
  return transpose(b_, s, parts, permutation);
}

Value* TextEncoder::attention(const Scope& s, Value* x, Value* bias) {
  const TextLayerNames& n = spec_.names;
  Value* query = heads(s, dense(s.at(n.query), x, kWidth, kWidth), {0, 2, 1, 3});
  Value* key = heads(s, dense(s.at(n.key), x, kWidth, kWidth), {0, 2, 3, 1});
  Value* value = heads(s, dense(s.at(n.value), x, kWidth, kWidth), {0, 2, 1, 3});
  Value* scores =
      b_.node(s, "Div", {b_.node(s, "MatMul", {query, key}), b_.scalar(s, std::sqrt(float{kHeadWidth}))});
  Value* weights = softmax(b_, s, b_.node(s, "Add", {scores, bias}));
  return merge_heads(b_, s, b_.node(s, "MatMul", {weights, value}), kHeads, kHeadWidth);
}

Value* TextEncoder::layer(const Scope& s, Value* x, Value* bias) {
  const TextLayerNames& n = spec_.names;
  Value* attended = dense(s.at(n.attention_output), attention(s, x, bias), kWidth, kWidth);
  x = norm(s.at(n.attention_norm), b_.node(s, "Add", {attended, x}));
  Value* inner = dense(s.at(n.inner), x, kWidth, kInner);
  inner = spec_.tanh_gelu ? gelu_tanh(b_, s.at(n.activation), inner) : gelu(b_, s.at(n.activation), inner);
  return norm(s.at(n.output_norm), b_.node(s, "Add", {dense(s.at(n.outer), inner, kInner, kWidth), x}));
}

std::shared_ptr<Model> TextEncoder::build() {
  const Scope root;
  const Dim sequence = b_.is_dynamic() ? Dim::symbol("sequence") : Dim(kSequence);
  const Dims ids = {b_.batch(), sequence};
  input_ids_ = b_.input("input_ids", DType::kInt64, ids);
  attention_mask_ = b_.input("attention_mask", DType::kInt64, ids);
  if (spec_.token_types >= 2) token_types_ = b_.input("token_type_ids", DType::kInt64, ids);

  Value* x = embeddings(root.child("embeddings"));
  Value* bias = score_bias(root);
  if (spec_.embedding_width != kWidth)
    x = dense(root.at("encoder/embedding_hidden_mapping_in"), x, spec_.embedding_width, kWidth);
  for (int i = 0; i < spec_.layers; ++i) {
    const int own = spec_.shares_layers ? 0 : i;
    x = layer(root.at(fmt::format(fmt::runtime(spec_.layer_path), own)), x, bias);
  }
  if (spec_.has_pooler) {
    const Scope pooler = root.child("pooler");
    Value* pooled =
        fully_connected(b_, pooler.child("dense"), pick(b_, pooler, x, 1, 0), kWidth, kWidth, kInit);
    pooled = b_.node(pooler.child("activation"), "Tanh", {pooled});
    b_.output(x, "last_hidden_state", DType::kFloat32, {b_.batch(), sequence, kWidth});
    b_.output(pooled, "pooler_output", DType::kFloat32, {b_.batch(), kWidth});
  } else {
    b_.output(x, "last_hidden_state", DType::kFloat32, {b_.batch(), sequence, kWidth});
  }
  return b_.finish();
}

}  // namespace text_encoder_parts

std::shared_ptr<Model> build_text_encoder(const TemplateOptions& options, std::string name,
                                          const TextEncoderSpec& spec, const ExportStyle& style) {
  return text_encoder_parts::TextEncoder(options, std::move(name), spec, style).build();
}

}  // namespace assay
