#include "templates/language_model.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "templates/experts.h"

namespace assay {
namespace language_model_parts {

constexpr float kEpsilon = 1e-5F;
constexpr int64_t kPrompt = 64, kPast = 128;

class LanguageModel {
 public:
  LanguageModel(const TemplateOptions& options, std::string name, const LanguageSpec& spec, LanguageMode mode)
      : b_(options, std::move(name)), spec_(spec), mode_(mode), head_width_(spec.width / spec.query_heads) {}

  std::shared_ptr<Model> build();

 private:
  bool decodes() const { return mode_ != LanguageMode::kPrefill; }
  bool is_fused() const { return mode_ == LanguageMode::kFusedDecode; }
  Dim tokens() const {
    if (decodes()) return 1;
    return b_.is_dynamic() ? Dim::symbol("sequence") : Dim(kPrompt);
  }
  Dim past() const { return b_.is_dynamic() ? Dim::symbol("past_sequence") : Dim(kPast); }
  Dim total() const {
    if (!decodes()) return tokens();
    return b_.is_dynamic() ? Dim::symbol("total_sequence") : Dim(kPast + 1);
  }
  Dims cache_dims(Dim length) const { return {b_.batch(), spec_.key_heads, std::move(length), head_width_}; }

  void add_inputs();
  Value* norm(const Scope& s, Value* x);
  Value* score_bias(const Scope& s);
  Value* repeat(const Scope& s, Value* x);
  Value* attention(const Scope& s, Value* x, size_t layer);
  Value* fused_attention(const Scope& s, Value* query, Value* key, Value* value, size_t layer);
  Value* feed_forward(const Scope& s, Value* x);

  TemplateBuilder b_;
  const LanguageSpec spec_;
  LanguageMode mode_;
  int64_t head_width_;
  Value *input_ids_ = nullptr, *attention_mask_ = nullptr, *position_ids_ = nullptr;
  std::vector<Value*> past_keys_, past_values_, keys_, values_;
  Value* bias_ = nullptr;  ///< of the scores
  Rotation rotation_{};
  Value *cosines_ = nullptr, *sines_ = nullptr;  ///< the tables of RotaryEmbedding
};

void LanguageModel::add_inputs() {
  input_ids_ = b_.input("input_ids", DType::kInt64, {b_.batch(), tokens()});
  attention_mask_ = b_.input("attention_mask", DType::kInt64, {b_.batch(), total()});
  position_ids_ = b_.input("position_ids", DType::kInt64, {b_.batch(), tokens()});
  for (int i = 0; decodes() && i < spec_.layers; ++i) {
    const std::string cache = fmt::format("past_key_values.{}.", i);
    past_keys_.push_back(b_.input(cache + "key", DType::kFloat32, cache_dims(past())));
    past_values_.push_back(b_.input(cache + "value", DType::kFloat32, cache_dims(past())));
  }
}

Value* LanguageModel::norm(const Scope& s, Value* x) {
  if (!is_fused()) return rms_norm(b_, s, x, spec_.width, kEpsilon);
  Value* weight = b_.weight(s, "weight", {spec_.width}, Init::normal(0.1, 1.0));
  return b_.node(s, "RMSNormalization", {x, weight}, {{"axis", int64_t{-1}}, {"epsilon", kEpsilon}});
}

/// 0 where a token may attend, the lowest float elsewhere: [batch, 1, tokens, total].
Value* LanguageModel::score_bias(const Scope& s) {
  Value* mask = b_.node(s, "Cast", {unsqueeze(b_, s, attention_mask_, {1, 2})},
                        {{"to", static_cast<int64_t>(DType::kBool)}});
  if (!decodes()) mask = b_.node(s, "And", {mask, causal_mask(b_, s, input_ids_, 1)});
  return b_.node(s, "Where", {mask, b_.scalar(s, 0), b_.scalar(s, std::numeric_limits<float>::lowest())});
}

/// Each key head once for every query head that it serves.
Value* LanguageModel::repeat(const Scope& s, Value* x) {
  const int64_t times = spec_.query_heads / spec_.key_heads;
  if (times == 1) return x;
  Value *batch = extent(b_, s, x, 0), *length = extent(b_, s, x, 2);
  Value* shape =
      concat(b_, s, {batch, b_.ints(s, {spec_.key_heads, times}), length, b_.ints(s, {head_width_})}, 0);
  Value* y = b_.node(s, "Expand", {unsqueeze(b_, s, x, {2}), shape});
  return reshape_to(b_, s, y, {batch, b_.ints(s, {spec_.query_heads}), length, b_.ints(s, {head_width_})});
}

Value* LanguageModel::fused_attention(const Scope& s, Value* query, Value* key, Value* value, size_t layer) {
  const auto rotated = [&](Value* x, int64_t heads) {
    Value* y = b_.node(s, "RotaryEmbedding", {x, cosines_, sines_, position_ids_}, {{"num_heads", heads}});
    return y;
  };
  const std::vector<Value*> y =
      b_.node_with_outputs(s, "Attention",
                           {rotated(query, spec_.query_heads), rotated(key, spec_.key_heads), value, bias_,
                            past_keys_[layer], past_values_[layer]},
                           {{"q_num_heads", spec_.query_heads}, {"kv_num_heads", spec_.key_heads}}, 3);
  keys_.push_back(y[1]);
  values_.push_back(y[2]);
  return y[0];
}

Value* LanguageModel::attention(const Scope& s, Value* x, size_t layer) {
  const int64_t width = spec_.width, key_width = spec_.key_heads * head_width_;
  const Init init = Init::lecun_normal(width);
  Value* query = product(b_, s.child("q_proj"), x, width, width, init);
  Value* key = product(b_, s.child("k_proj"), x, width, key_width, init);
  Value* value = product(b_, s.child("v_proj"), x, width, key_width, init);
  Value* mixed = nullptr;
  if (is_fused()) {
    mixed = fused_attention(s, query, key, value, layer);
  } else {
    query = rotate(b_, s, split_heads(b_, s, query, spec_.query_heads, head_width_), rotation_, head_width_);
    key = rotate(b_, s, split_heads(b_, s, key, spec_.key_heads, head_width_), rotation_, head_width_);
    value = split_heads(b_, s, value, spec_.key_heads, head_width_);
    if (decodes()) {
      key = concat(b_, s, {past_keys_[layer], key}, 2);
      value = concat(b_, s, {past_values_[layer], value}, 2);
    }
    keys_.push_back(key);
    values_.push_back(value);
    // One by one: compilers do not agree on the order of a call's arguments.
    value = repeat(s, value);
    key = repeat(s, key);
    mixed = attend(b_, s, {spec_.query_heads, head_width_}, query, key, value, bias_);
  }
  return product(b_, s.child("o_proj"), mixed, width, width,
                 Init::normal(0.3 / std::sqrt(static_cast<double>(width))));
}

Value* LanguageModel::feed_forward(const Scope& s, Value* x) {
  if (spec_.experts == 0) return swiglu(b_, s, x, spec_.width, spec_.inner);
  return mixture_of_experts(b_, s.child("block_sparse_moe"), x, spec_.width, spec_.inner, spec_.experts);
}

std::shared_ptr<Model> LanguageModel::build() {
  const Scope root, model = root.child("model");
  add_inputs();
  const Scope embed = model.child("embed_tokens");
  Value* table = b_.weight(embed, "weight", {spec_.vocabulary, spec_.width}, Init::normal(0.1));
  Value* x = b_.node(embed, "Gather", {table, input_ids_}, {{"axis", int64_t{0}}});
  const Scope rotary = model.child("rotary_emb");
  if (is_fused()) {
    const auto angles = [&](double (*f)(double)) {
      std::vector<float> t;
      for (int64_t p = 0; p < 2048; ++p)
        for (int64_t i = 0; i < head_width_ / 2; ++i)
          t.push_back(static_cast<float>(
              f(static_cast<double>(p) * std::pow(spec_.rotary_base, -2.0 * static_cast<double>(i) /
                                                                         static_cast<double>(head_width_)))));
      return b_.constant(rotary, Tensor::from({2048, head_width_ / 2}, t));
    };
    cosines_ = angles(std::cos);
    sines_ = angles(std::sin);
  } else {
    rotation_ = rotary_positions(b_, rotary, position_ids_, head_width_, spec_.rotary_base);
  }
  bias_ = score_bias(model);
  for (int i = 0; i < spec_.layers; ++i) {
    const Scope layer = model.child(fmt::format("layers.{}", i));
    Value* y =
        attention(layer.child("self_attn"), norm(layer.child("input_layernorm"), x), static_cast<size_t>(i));
    x = b_.node(layer, "Add", {x, y});
    y = feed_forward(layer.child("mlp"), norm(layer.child("post_attention_layernorm"), x));
    x = b_.node(layer, "Add", {x, y});
  }
  x = norm(model.child("norm"), x);
  const Scope head = root.child("lm_head");
  Value* logits = b_.node(head, "MatMul", {x, transpose(b_, head, table, {1, 0})});
  b_.output(logits, "logits", DType::kFloat32, {b_.batch(), tokens(), spec_.vocabulary});
  for (size_t i = 0; i < keys_.size(); ++i) {
    b_.output(keys_[i], fmt::format("present.{}.key", i), DType::kFloat32, cache_dims(total()));
    b_.output(values_[i], fmt::format("present.{}.value", i), DType::kFloat32, cache_dims(total()));
  }
  return b_.finish();
}

}  // namespace language_model_parts

Value* rms_norm(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, float epsilon) {
  Value* square = b.node(s, "Pow", {x, b.scalar(s, 2)});
  Value* mean = b.node(s, "Add", {reduce_mean(b, s, square, {-1}), b.scalar(s, epsilon)});
  Value* factor = b.node(s, "Div", {b.scalar(s, 1), b.node(s, "Sqrt", {mean})});
  Value* normal = b.node(s, "Mul", {x, factor});
  return b.node(s, "Mul", {b.weight(s, "weight", {width}, Init::normal(0.1, 1.0)), normal});
}

Rotation rotary_positions(TemplateBuilder& b, const Scope& s, Value* position_ids, int64_t width,
                          double base) {
  std::vector<float> frequencies;
  for (int64_t i = 0; i < width / 2; ++i)
    frequencies.push_back(
        static_cast<float>(std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width))));
  Value* column = b.constant(s, Tensor::from({1, width / 2, 1}, frequencies));
  Value* row = b.node(s, "Cast", {unsqueeze(b, s, position_ids, {1})},
                      {{"to", static_cast<int64_t>(DType::kFloat32)}});
  Value* angles = transpose(b, s, b.node(s, "MatMul", {column, row}), {0, 2, 1});
  Value* both = concat(b, s, {angles, angles}, -1);
  return {unsqueeze(b, s, b.node(s, "Cos", {both}), {1}), unsqueeze(b, s, b.node(s, "Sin", {both}), {1})};
}

Value* rotate(TemplateBuilder& b, const Scope& s, Value* x, const Rotation& r, int64_t width) {
  Value* first = slice(b, s, x, 3, 0, width / 2);
  Value* second = b.node(s, "Neg", {slice(b, s, x, 3, width / 2, std::numeric_limits<int64_t>::max())});
  Value* turned = concat(b, s, {second, first}, -1);
  return b.node(s, "Add", {b.node(s, "Mul", {x, r.cosine}), b.node(s, "Mul", {turned, r.sine})});
}

Value* causal_mask(TemplateBuilder& b, const Scope& s, Value* tokens, int64_t axis) {
  const auto number = [&](int64_t n) { return b.constant(s, Tensor::scalar(n)); };
  Value* length = b.node(s, "Gather", {b.node(s, "Shape", {tokens}), number(axis)}, {{"axis", int64_t{0}}});
  Value* keys = b.node(s, "Range", {number(0), length, number(1)});
  Value* queries = unsqueeze(b, s, keys, {1});
  return b.node(s, "Not", {b.node(s, "Greater", {unsqueeze(b, s, keys, {0}), queries})});
}

std::shared_ptr<Model> build_language_model(const TemplateOptions& options, std::string name,
                                            const LanguageSpec& spec, LanguageMode mode) {
  return language_model_parts::LanguageModel(options, std::move(name), spec, mode).build();
}

}  // namespace assay
