#include "templates/gpt2_layers.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "templates/layers.h"

namespace assay {
namespace {

constexpr int64_t kWidth = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int kLayers = 12;
constexpr int64_t kVocabulary = 50257;
constexpr int64_t kPositions = 1024;
constexpr float kEpsilon = 1e-5F;
constexpr Init kInit = Init::normal(0.02);
/// Projections into the residual stream start smaller, by the square root of their number.
constexpr Init kResidualInit = Init::normal(0.02 / 4.898979485566356);
/// Embeddings have about the spread that training gives them, not the 0.02 they start from: the output layer
/// shares their table, and logits should differ by several units.
constexpr Init kEmbeddingInit = Init::normal(0.14);

/// One model under construction with values shared by all its layers.
class Gpt2 {
 public:
  Gpt2(const TemplateOptions& options, std::string name, Gpt2Mode mode)
      : b_(options, std::move(name)), mode_(mode) {}

  std::shared_ptr<Model> build();

 private:
  bool decodes() const { return mode_ == Gpt2Mode::kDecode; }
  /// Tokens of one call.
  Dim sequence() const;
  /// Tokens of the cache that comes in, and of the one that goes out.
  Dim past() const { return b_.is_dynamic() ? Dim::symbol("past_sequence") : Dim(kGpt2Prompt); }
  Dim total() const;
  Dims cache_dims(Dim tokens) const { return {b_.batch(), kHeads, std::move(tokens), kHeadWidth}; }

  void add_inputs();
  Value* position_ids(const Scope& s);
  Value* hidden_mask(const Scope& s);
  Value* restore_rows(const Scope& s, Value* rows, int64_t width);
  Value* conv1d(const Scope& s, Value* x, int64_t inputs, int64_t outputs, const Init& init);
  Value* attention(const Scope& s, Value* x, int layer);
  Value* block(const Scope& s, Value* x, int layer);
  Value* logits(const Scope& s, Value* x);

  TemplateBuilder b_;
  Gpt2Mode mode_;
  Value* input_ids_ = nullptr;
  std::vector<Value*> past_keys_, past_values_, keys_, values_;
  /// The extents of input_ids as a tensor; null when they are numbers.
  Value* ids_shape_ = nullptr;
  /// True where a query must not attend to a key; null when there is no such position.
  Value* hidden_ = nullptr;
  Value* token_table_ = nullptr;
};

Dim Gpt2::sequence() const {
  if (decodes()) return 1;
  return b_.is_dynamic() ? Dim::symbol("sequence") : Dim(kGpt2Prompt);
}

Dim Gpt2::total() const {
  if (!decodes()) return sequence();
  return b_.is_dynamic() ? Dim::symbol("past_sequence + 1") : Dim(kGpt2Prompt + 1);
}

void Gpt2::add_inputs() {
  input_ids_ = b_.input("input_ids", DType::kInt64, {b_.batch(), sequence()});
  for (int i = 0; decodes() && i < kLayers; ++i) {
    past_keys_.push_back(
        b_.input(fmt::format("past_key_values.{}.key", i), DType::kFloat32, cache_dims(past())));
    past_values_.push_back(
        b_.input(fmt::format("past_key_values.{}.value", i), DType::kFloat32, cache_dims(past())));
  }
}

/// [1, sequence]: the tokens of the cache come before.
Value* Gpt2::position_ids(const Scope& s) {
  if (!b_.is_dynamic()) {
    std::vector<int64_t> ids;
    if (decodes()) ids.push_back(kGpt2Prompt);
    for (int64_t i = 0; !decodes() && i < kGpt2Prompt; ++i) ids.push_back(i);
    return b_.constant(s, Tensor::from({1, static_cast<int64_t>(ids.size())}, ids));
  }
  const auto extent = [&](Value* v, int64_t axis) {
    Value* shape = b_.node(s, "Shape", {v});
    return b_.node(s, "Gather", {shape, b_.constant(s, Tensor::scalar(axis))}, {{"axis", int64_t{0}}});
  };
  if (decodes()) return unsqueeze(b_, s, extent(past_keys_[0], 2), {0, 1});
  Value* zero = b_.constant(s, Tensor::scalar(int64_t{0}));
  Value* one = b_.constant(s, Tensor::scalar(int64_t{1}));
  return unsqueeze(b_, s, b_.node(s, "Range", {zero, extent(input_ids_, 1), one}), {0});
}

/// [sequence, sequence], true above the diagonal.
Value* Gpt2::hidden_mask(const Scope& s) {
  Value* keys = position_ids(s);
  Value* queries = transpose(b_, s, keys, {1, 0});
  return b_.node(s, "Greater", {keys, queries});
}

/// [batch * sequence, width] to [batch, sequence, width].
Value* Gpt2::restore_rows(const Scope& s, Value* rows, int64_t width) {
  if (ids_shape_ == nullptr) return reshape(b_, s, rows, {b_.batch().value(), sequence().value(), width});
  Value* shape = b_.node(s, "Concat", {ids_shape_, b_.ints(s, {width})}, {{"axis", int64_t{0}}});
  return b_.node(s, "Reshape", {rows, shape});
}

/// GPT-2's linear layer: a Gemm over rows, with the weight as [inputs, outputs].
Value* Gpt2::conv1d(const Scope& s, Value* x, int64_t inputs, int64_t outputs, const Init& init) {
  Value* rows = reshape(b_, s, x, {-1, inputs});
  Value* weight = b_.weight(s, "weight", {inputs, outputs}, init);
  Value* bias = b_.weight(s, "bias", {outputs}, Init::normal(0.02));
  return restore_rows(s, b_.node(s, "Gemm", {rows, weight, bias}, {{"alpha", 1.0F}, {"beta", 1.0F}}),
                      outputs);
}

Value* Gpt2::attention(const Scope& s, Value* x, int layer) {
  Value* qkv = conv1d(s.child("c_attn"), x, kWidth, 3 * kWidth, kInit);
  const std::vector<Value*> parts = split(b_, s, qkv, 2, {kWidth, kWidth, kWidth});
  Value* query = split_heads(b_, s, parts[0], kHeads, kHeadWidth);
  Value* key = split_heads(b_, s, parts[1], kHeads, kHeadWidth);
  Value* value = split_heads(b_, s, parts[2], kHeads, kHeadWidth);
  if (decodes()) {
    const auto at = static_cast<size_t>(layer);
    key = b_.node(s, "Concat", {past_keys_[at], key}, {{"axis", int64_t{2}}});
    value = b_.node(s, "Concat", {past_values_[at], value}, {{"axis", int64_t{2}}});
  }
  keys_.push_back(key);
  values_.push_back(value);
  Value* scores = b_.node(s, "MatMul", {query, transpose(b_, s, key, {0, 1, 3, 2})});
  scores = b_.node(s, "Div", {scores, b_.scalar(s, std::sqrt(float{kHeadWidth}))});
  if (hidden_ != nullptr)
    scores = b_.node(s, "Where", {hidden_, b_.scalar(s, std::numeric_limits<float>::lowest()), scores});
  Value* mixed = b_.node(s, "MatMul", {softmax(b_, s, scores), value});
  return conv1d(s.child("c_proj"), merge_heads(b_, s, mixed, kHeads, kHeadWidth), kWidth, kWidth,
                kResidualInit);
}

Value* Gpt2::block(const Scope& s, Value* x, int layer) {
  Value* attended = attention(s.child("attn"), layer_norm(b_, s.child("ln_1"), x, kWidth, kEpsilon), layer);
  x = b_.node(s, "Add", {attended, x});
  const Scope mlp = s.child("mlp");
  Value* inner = conv1d(mlp.child("c_fc"), layer_norm(b_, s.child("ln_2"), x, kWidth, kEpsilon), kWidth,
                        4 * kWidth, kInit);
  inner = gelu_tanh(b_, mlp.child("act"), inner);
  return b_.node(s, "Add", {x, conv1d(mlp.child("c_proj"), inner, 4 * kWidth, kWidth, kResidualInit)});
}

Value* Gpt2::logits(const Scope& s, Value* x) {
  Value* rows = reshape(b_, s, x, {-1, kWidth});
  return restore_rows(s, b_.node(s, "Gemm", {rows, token_table_}, {{"transB", int64_t{1}}}), kVocabulary);
}

std::shared_ptr<Model> Gpt2::build() {
  const Scope root, transformer = root.child("transformer");
  add_inputs();
  if (b_.is_dynamic()) ids_shape_ = b_.node(transformer, "Shape", {input_ids_});
  const Scope tokens = transformer.child("wte"), positions = transformer.child("wpe");
  token_table_ = b_.weight(tokens, "weight", {kVocabulary, kWidth}, kEmbeddingInit);
  Value* position_table = b_.weight(positions, "weight", {kPositions, kWidth}, kEmbeddingInit);
  Value* x = b_.node(tokens, "Gather", {token_table_, input_ids_}, {{"axis", int64_t{0}}});
  Value* ids = position_ids(transformer);
  Value* y = b_.node(positions, "Gather", {position_table, ids}, {{"axis", int64_t{0}}});
  x = b_.node(transformer, "Add", {x, y});
  if (!decodes()) hidden_ = hidden_mask(transformer);
  for (int i = 0; i < kLayers; ++i) x = block(transformer.child(fmt::format("h.{}", i)), x, i);
  x = layer_norm(b_, transformer.child("ln_f"), x, kWidth, kEpsilon);

  b_.output(logits(root.child("lm_head"), x), "logits", DType::kFloat32,
            {b_.batch(), sequence(), kVocabulary});
  for (size_t i = 0; i < keys_.size(); ++i) {
    b_.output(keys_[i], fmt::format("present.{}.key", i), DType::kFloat32, cache_dims(total()));
    b_.output(values_[i], fmt::format("present.{}.value", i), DType::kFloat32, cache_dims(total()));
  }
  return b_.finish();
}

}  // namespace

std::shared_ptr<Model> build_gpt2(const TemplateOptions& options, std::string name, Gpt2Mode mode) {
  return Gpt2(options, std::move(name), mode).build();
}

}  // namespace assay
