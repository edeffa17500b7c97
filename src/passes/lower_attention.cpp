// Attention of the standard, and Attention and MultiHeadAttention of ONNX Runtime, become what they stand
// for: products of queries and keys, a softmax, products with the values. float32 and known shapes; forms
// that need more are left as they are (masks by beginnings and ends, shared buffers, capped scores, the
// scores as an output).
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/formula.h"
#include "passes/pass_list.h"

namespace assay::pass_lower_attention {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

bool is_f32(const Value* v) { return dtype_of(v) == DType::kFloat32; }

/// [batch, heads, sequence, size] each; more heads of queries than of keys share those in groups.
struct Heads {
  Term query, key, value;
};

/// What is added to the scores, and where a query may attend to nothing at all.
struct Bias {
  std::vector<Term> added;
  /// [.., queries, 1], true where something may be attended to; empty: everywhere.
  std::optional<Term> attends;
};

/// [batch, sequence, heads * size] as [batch, heads, sequence, size].
Term split_heads(Formula& f, const Term& x, int64_t heads) {
  const Shape& s = x.shape;
  return f.transpose(f.reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

Term join_heads(Formula& f, const Term& x) {
  const Shape& s = x.shape;
  return f.reshape(f.transpose(x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

/// 0 where query i may attend to key j, which stands at most `offset` behind it; else -infinity.
Tensor causal_mask(int64_t queries, int64_t keys, int64_t offset) {
  Tensor mask = Tensor::zeros(DType::kFloat32, {queries, keys});
  float* to = mask.mutable_data<float>();
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = std::max<int64_t>(0, i + offset + 1); j < keys; ++j)
      to[i * keys + j] = -std::numeric_limits<float>::infinity();
  return mask;
}

/// softmax(scale * query key^T + bias) value, [batch, heads, queries, size of values].
Term attend(Formula& f, const Heads& h, float scale, const Bias& bias) {
  const Shape q = h.query.shape;
  const int64_t groups = h.key.shape[1], keys = h.key.shape[2];
  // Heads that share keys stand one below the other, as more queries of one head.
  const Term query = f.reshape(h.query, {q[0], groups, q[1] / groups * q[2], q[3]});
  Term scores = f.matmul(query, f.transpose(h.key, {0, 1, 3, 2}));
  if (scale != 1) scores = f.binary("Mul", scores, f.number(scale));
  scores = f.reshape(scores, {q[0], q[1], q[2], keys});
  for (const Term& added : bias.added) scores = f.binary("Add", scores, added);
  const Term shares = f.reshape(f.softmax(scores), {q[0], groups, q[1] / groups * q[2], keys});
  Term y = f.reshape(f.matmul(shares, h.value), {q[0], q[1], q[2], h.value.shape[3]});
  if (bias.attends) y = f.choose(*bias.attends, y, f.number(0));
  return y;
}

/// The mask of the standard's Attention; false when it is of a form that is left alone.
bool add_mask(Formula& f, const Node& n, const Shape& scores, Bias& bias) {
  Value* mask = n.input(3);
  if (mask == nullptr) return true;
  const std::optional<Shape> shape = shape_of(mask);
  const bool is_bool = dtype_of(mask) == DType::kBool;
  if (!shape || shape->size() == 0 || !broadcasts_to(*shape, scores) || shape->back() != scores.back())
    return false;
  if (!is_bool && !is_f32(mask)) return false;
  constexpr float kForbidden = -std::numeric_limits<float>::infinity();
  const Term given = Formula::of(mask);
  const Term added = is_bool ? f.choose(given, f.number(0), f.number(kForbidden)) : given;
  // Rows in which nothing is allowed give 0 where the softmax would give NaN.
  bias.attends = f.negate(f.compare("Equal", f.reduce("ReduceMax", added), f.number(kForbidden)));
  bias.added.push_back(added);
  return true;
}

/// Puts keys and values behind those of the past, where there is one; false when they do not go together.
bool add_past(Formula& f, const Node& n, size_t past_key, size_t past_value, Heads& h) {
  Value *old_key = n.input(past_key), *old_value = n.input(past_value);
  if ((old_key == nullptr) != (old_value == nullptr)) return false;
  for (const auto& [old, added] : {std::pair(old_key, &h.key), std::pair(old_value, &h.value)}) {
    if (old == nullptr) continue;
    const std::optional<Shape> shape = shape_of(old);
    if (!shape || !is_f32(old) || shape->size() != 4) return false;
    for (const size_t d : {0, 1, 3})
      if ((*shape)[d] != added->shape[d]) return false;
    if (shape->numel() > 0) *added = f.concat({Formula::of(old), *added}, 2);
  }
  return h.key.shape[2] == h.value.shape[2];
}

/// Whether they are heads of one batch, and each head of keys has its values and serves a whole number of
/// queries' heads.
bool go_together(const Heads& h) {
  const Shape &q = h.query.shape, &k = h.key.shape, &v = h.value.shape;
  return q.size() == 4 && k[0] == q[0] && v[0] == q[0] && k[1] == v[1] && k[2] == v[2] && k[3] == q[3] &&
         q[1] % k[1] == 0;
}

bool wants(const Node& n, size_t i) { return i < n.outputs().size() && n.output(i) != nullptr; }

void give_present(Formula& f, const Node& n, const Heads& h) {
  if (wants(n, 1)) f.give(h.key, n.output(1));
  if (wants(n, 2)) f.give(h.value, n.output(2));
}

/// Neither scores as an output nor capped ones, no windows, no lengths of padded keys.
bool is_plain_standard(const Node& n) {
  return !wants(n, 3) && float_attribute(n, "softcap", 0) == 0 && n.input(6) == nullptr &&
         int_attribute(n, "left_window_size", -1) == -1 && int_attribute(n, "right_window_size", -1) == -1;
}

/// Nothing where what comes by sequence is not a whole number of heads.
std::optional<Heads> standard_heads(Formula& f, const Node& n, bool by_sequence) {
  const Heads h{Formula::of(n.input(0)), Formula::of(n.input(1)), Formula::of(n.input(2))};
  if (!by_sequence) return h;
  const int64_t heads = int_attribute(n, "q_num_heads", 0), groups = int_attribute(n, "kv_num_heads", 0);
  if (heads <= 0 || groups <= 0 || h.query.shape[2] % heads != 0 || h.key.shape[2] % groups != 0 ||
      h.value.shape[2] % groups != 0)
    return std::nullopt;
  return Heads{split_heads(f, h.query, heads), split_heads(f, h.key, groups),
               split_heads(f, h.value, groups)};
}

/// The mask, or that queries attend to no later keys, of which `past` are before the first query.
bool add_standard_biases(Formula& f, const Node& n, const Shape& scores, int64_t past, Bias& bias) {
  if (!add_mask(f, n, scores, bias)) return false;
  if (int_attribute(n, "is_causal", 0) == 0) return true;
  // With a mask of its own, a row may be left with nothing by both together.
  if (!bias.added.empty()) return false;
  bias.added.push_back(f.constant(causal_mask(scores[2], scores[3], past)));
  return true;
}

std::optional<Patch> standard(const Node& n, const PassContext& context) {
  const std::optional<Shape> q = shape_of(n.input(0)), k = shape_of(n.input(1)), v = shape_of(n.input(2));
  if (!q || !k || !v || q->size() != k->size() || v->size() != k->size() || !is_plain_standard(n))
    return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  Formula f(patch, context, n.output(0)->name());
  const bool by_sequence = q->size() == 3;
  std::optional<Heads> h = standard_heads(f, n, by_sequence);
  if (!h || !go_together(*h)) return std::nullopt;
  const Shape& query = h->query.shape;
  const int64_t fresh = h->key.shape[2];
  if (!add_past(f, n, 4, 5, *h)) return std::nullopt;
  const int64_t keys = h->key.shape[2];
  Bias bias;
  if (!add_standard_biases(f, n, {query[0], query[1], query[2], keys}, keys - fresh, bias))
    return std::nullopt;
  give_present(f, n, *h);
  const double scale = float_attribute(n, "scale", 1 / std::sqrt(static_cast<double>(query[3])));
  const Term y = attend(f, *h, static_cast<float>(scale), bias);
  f.give(by_sequence ? join_heads(f, y) : y, n.output(0));
  return patch;
}

/// 0, 1, .. of int32.
Term indices(Formula& f, int64_t count) {
  Tensor t = Tensor::allocate(DType::kInt32, {count});
  std::iota(t.mutable_data<int32_t>(), t.mutable_data<int32_t>() + count, 0);
  return f.constant(t);
}

/// A mask [batch, keys] of int32, in which keys that are not above 0 get a number added, or [batch], how many
/// keys get none; and a bias of the scores. False when either has another form.
bool add_biases(Formula& f, const Node& n, size_t mask, size_t score_bias, const Shape& scores, Bias& bias) {
  if (Value* v = n.input(score_bias)) {
    const std::optional<Shape> shape = shape_of(v);
    if (!shape || !is_f32(v) || shape->size() != 4 || !broadcasts_to(*shape, scores) ||
        shape->back() != scores.back())
      return false;
    bias.added.push_back(Formula::of(v));
  }
  if (Value* v = n.input(mask)) {
    const std::optional<Shape> shape = shape_of(v);
    const bool by_lengths = shape == Shape{scores[0]};
    if ((!by_lengths && shape != Shape{scores[0], scores[3]}) || dtype_of(v) != DType::kInt32) return false;
    const Term given = Formula::of(v);
    const Term allowed = by_lengths
                             ? f.compare("Greater", f.reshape(given, {scores[0], 1}), indices(f, scores[3]))
                             : f.compare("Greater", given, f.constant(Tensor::scalar(int32_t{0})));
    const Term filtered = f.choose(
        allowed, f.number(0), f.number(static_cast<float>(float_attribute(n, "mask_filter_value", -10000))));
    bias.added.push_back(f.reshape(filtered, {scores[0], 1, 1, scores[3]}));
  }
  if (int_attribute(n, "unidirectional", 0) != 0)
    bias.added.push_back(f.constant(causal_mask(scores[2], scores[3], scores[3] - scores[2])));
  return true;
}

/// The default where the attribute is not there or 0.
float scale_of(const Node& n, int64_t size) {
  const double scale = float_attribute(n, "scale", 0);
  return static_cast<float>(scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(size)));
}

/// Part of a bias vector, added along the last axis.
Term biased(Formula& f, const Term& x, Value* bias, int64_t first) {
  if (bias == nullptr) return x;
  return f.binary("Add", x, f.slice(Formula::of(bias), 0, first, first + x.shape.back()));
}

/// Whether a vector, where there is one, has a number for each of `columns`.
bool is_bias_of(const Value* bias, int64_t columns) {
  return bias == nullptr || (is_f32(bias) && shape_of(bias) == Shape{columns});
}

/// Inputs of MultiHeadAttention.
struct MultiHead {
  enum : size_t {
    kQuery,
    kKey,
    kValue,
    kBias,
    kMask,
    kScoreBias,
    kPastKey,
    kPastValue,
    kPastLength,
    kCacheIndirection
  };
};

/// Whether queries are [batch, sequence, heads * size]; keys and values alike, with what is added to all
/// three, or [batch, heads, sequence, size].
bool are_multi_head(const Node& n, int64_t heads) {
  const std::optional<Shape> q = shape_of(n.input(MultiHead::kQuery)), k = shape_of(n.input(MultiHead::kKey)),
                             v = shape_of(n.input(MultiHead::kValue));
  if (!q || !k || !v || q->size() != 3 || (*q)[2] % heads != 0 || k->size() != v->size()) return false;
  if (k->size() == 4) return n.input(MultiHead::kBias) == nullptr;
  return k->size() == 3 && (*k)[2] == (*q)[2] && (*v)[2] % heads == 0 &&
         is_bias_of(n.input(MultiHead::kBias), (*q)[2] + (*k)[2] + (*v)[2]);
}

std::optional<Patch> multi_head(const Node& n, const PassContext& context) {
  const int64_t heads = int_attribute(n, "num_heads", 0);
  if (heads <= 0 || wants(n, 3) || n.input(MultiHead::kPastLength) != nullptr ||
      n.input(MultiHead::kCacheIndirection) != nullptr || !are_multi_head(n, heads))
    return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  Formula f(patch, context, n.output(0)->name());
  const auto part = [&](size_t i, int64_t first) {
    const Term x = Formula::of(n.input(i));
    return x.shape.size() == 4 ? x : split_heads(f, biased(f, x, n.input(MultiHead::kBias), first), heads);
  };
  const int64_t hidden = shape_of(n.input(MultiHead::kQuery))->back();
  Heads h{part(MultiHead::kQuery, 0), part(MultiHead::kKey, hidden), part(MultiHead::kValue, 2 * hidden)};
  if (h.key.shape[1] != heads || !go_together(h) ||
      !add_past(f, n, MultiHead::kPastKey, MultiHead::kPastValue, h))
    return std::nullopt;
  const Shape& query = h.query.shape;
  Bias bias;
  if (!add_biases(f, n, MultiHead::kMask, MultiHead::kScoreBias, {query[0], heads, query[2], h.key.shape[2]},
                  bias))
    return std::nullopt;
  give_present(f, n, h);
  f.give(join_heads(f, attend(f, h, scale_of(n, query[3]), bias)), n.output(0));
  return patch;
}

/// Numbers of queries, keys and values among the columns; nothing where they are not whole heads.
std::optional<std::vector<int64_t>> projected_sizes(const Node& n, int64_t columns, int64_t heads) {
  std::vector<int64_t> sizes = ints_attribute(n, "qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, columns / 3);
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] + sizes[1] + sizes[2] != columns)
    return std::nullopt;
  const auto is_whole = [&](int64_t size) { return size > 0 && size % heads == 0; };
  return is_whole(sizes[0]) && is_whole(sizes[2]) ? std::optional(sizes) : std::nullopt;
}

/// Queries, keys and values are one product of the input.
std::optional<Patch> self_attention(const Node& n, const PassContext& context) {
  enum : size_t { kInput, kWeights, kBias, kMask, kPast, kScoreBias, kPastLength };
  if (wants(n, 1) || n.input(kPast) != nullptr || n.input(kPastLength) != nullptr ||
      int_attribute(n, "do_rotary", 0) != 0)
    return std::nullopt;
  const std::optional<Shape> x = shape_of(n.input(kInput)), weights = shape_of(n.input(kWeights));
  const int64_t heads = int_attribute(n, "num_heads", 0);
  if (!x || !weights || x->size() != 3 || weights->size() != 2 || (*weights)[0] != (*x)[2] || heads <= 0)
    return std::nullopt;
  const std::optional<std::vector<int64_t>> split = projected_sizes(n, (*weights)[1], heads);
  if (!split || !is_bias_of(n.input(kBias), (*weights)[1])) return std::nullopt;
  const std::vector<int64_t>& sizes = *split;
  Patch patch(n);
  patch.remove(n);
  Formula f(patch, context, n.output(0)->name());
  const Term projected =
      biased(f, f.matmul(Formula::of(n.input(kInput)), Formula::of(n.input(kWeights))), n.input(kBias), 0);
  const auto part = [&](int64_t first, int64_t size) {
    return split_heads(f, f.slice(projected, 2, first, first + size), heads);
  };
  const Heads h{part(0, sizes[0]), part(sizes[0], sizes[1]), part(2 * sizes[0], sizes[2])};
  Bias bias;
  if (!add_biases(f, n, kMask, kScoreBias, {(*x)[0], heads, (*x)[1], (*x)[1]}, bias)) return std::nullopt;
  f.give(join_heads(f, attend(f, h, scale_of(n, h.query.shape[3]), bias)), n.output(0));
  return patch;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const bool is_standard = is_op(n, "Attention");
  if (!is_standard && n.domain != kMicrosoft) return std::nullopt;
  if (n.op_type != "Attention" && n.op_type != "MultiHeadAttention") return std::nullopt;
  // The opset whose Softmax is over one axis.
  if (context.model.opset() < 13 || n.output(0) == nullptr || !is_f32(n.output(0))) return std::nullopt;
  for (size_t i = 0; i < std::min<size_t>(n.inputs().size(), 3); ++i) {
    const std::optional<Shape> shape = n.input(i) != nullptr ? shape_of(n.input(i)) : std::nullopt;
    if (n.input(i) != nullptr && (!is_f32(n.input(i)) || !shape || shape->numel() == 0)) return std::nullopt;
  }
  if (is_standard) return standard(n, context);
  return n.op_type == "Attention" ? self_attention(n, context) : multi_head(n, context);
}

}  // namespace

constinit const PassDef def = {
    .name = "lower_attention",
    .summary = "attention becomes products and a softmax",
    .conditions =
        "Opset 13 or later, float32, extents that are numbers above 0. No capped scores, no scores as an "
        "output, no windows, no lengths of padded keys, no shared buffers; is_causal without a mask. Scores "
        "are finite but for the mask.",
    .match = match,
};

}  // namespace assay::pass_lower_attention
