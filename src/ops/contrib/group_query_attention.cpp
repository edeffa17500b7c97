// GroupQueryAttention: causal attention in which groups of query heads share keys and values, with a cache,
// rotary positions, a window of the last keys, capped
// scores, and one extra score in the softmax. seqlens_k
// + 1 are the lengths of the sequences with the past; total_sequence_length is the longest.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/contrib/key_mask.h"
#include "ops/contrib/rotary.h"
#include "ops/infer_util.h"
#include "ops/nn/heads.h"
#include "ops/op_list.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_ms_GroupQueryAttention {
namespace {

enum Input {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLengths,
  kTotal,
  kCosines,
  kSines,
  kPositions,
  kScoreBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm
};

struct HeadCounts {
  int64_t query, key;
  explicit HeadCounts(const OpContext& c) : query(c.attr_int("num_heads")), key(c.attr_int("kv_num_heads")) {
    c.check(query > 0 && key > 0 && query % key == 0, "{} heads of keys do not divide {} heads of queries",
            key, query);
  }
};

/// Cases that are not evaluated.
void check_supported(const OpContext& c) {
  c.check(c.has_input(kPastKey) == c.has_input(kPastValue), "past_key and past_value must be given together");
  c.check(c.has_input(kKey) == c.has_input(kValue), "key and value must be given together");
  c.check(!c.has_input(kKeyScale) && !c.has_input(kValueScale) && c.attr_string("k_quant_type") == "NONE" &&
              c.attr_string("v_quant_type") == "NONE",
          "a quantised cache cannot be evaluated");
  c.check(c.attr_int("sliding_window_cache") == 0, "a cache that slides cannot be evaluated");
}

void infer(InferContext& c) {
  check_supported(c);
  const HeadCounts heads(c);
  const Dims *q = c.input_dims(kQuery), *past = c.has_input(kPastKey) ? c.input_dims(kPastKey) : nullptr;
  const DType dtype = c.input_dtype(kQuery);
  c.check(q == nullptr || q->size() == 3, "the query has {} dimensions where 3 are needed",
          q ? q->size() : 0);
  c.check(past == nullptr || past->size() == 4, "past_key has {} dimensions where 4 are needed",
          past ? past->size() : 0);
  const int64_t packed = c.has_input(kKey) ? heads.query : heads.query + 2 * heads.key;
  const Dim size = q ? dim_floor_div((*q)[2], Dim(packed)) : Dim();
  c.check(q == nullptr || !(*q)[2].is_known() || (*q)[2].value() % packed == 0,
          "{} heads do not divide the hidden size {}", packed, q ? (*q)[2].str() : "?");
  const Dim batch = q ? (*q)[0] : Dim(), sequence = q ? (*q)[1] : Dim();
  c.set_output(0, dtype, {batch, sequence, dim_mul(Dim(heads.query), size)});
  const Tensor* total = c.input_value(kTotal);
  Dim rows;
  if (total != nullptr && total->numel() == 1 && (!c.has_input(kPastKey) || (past && (*past)[2].is_known())))
    rows = Dim(std::max(total->to_int64()[0], past ? (*past)[2].value() : 0));
  for (size_t i = 1; i < 3; ++i) c.set_output(i, dtype, {batch, Dim(heads.key), rows, size});
  c.set_output(3, dtype, {batch, Dim(heads.query), sequence, Dim()});
}

/// Queries, keys and values [batch, heads, sequence, size] before rotation.
struct Operands {
  Traced query, key, value;
};

Operands read_operands(const EvalContext& c, Steps& steps, const HeadCounts& heads) {
  const Traced query = steps.given(c.input(kQuery));
  c.check(c.shape(kQuery).size() == 3, "the query has shape {} where 3 dimensions are needed",
          c.shape(kQuery).str());
  if (c.has_input(kKey)) {
    Operands out{split_heads(query, heads.query), split_heads(steps.given(c.input(kKey)), heads.key),
                 split_heads(steps.given(c.input(kValue)), heads.key)};
    const Shape &q = out.query.value.shape(), keys = {q[0], heads.key, q[2], q[3]};
    c.check(out.key.value.shape() == keys && out.value.value.shape() == keys,
            "keys {} and values {} do not go with queries {} (batch, heads, sequence, size)",
            out.key.value.shape().str(), out.value.value.shape().str(), q.str());
    return out;
  }
  const int64_t hidden = c.shape(kQuery)[2], packed = heads.query + 2 * heads.key;
  c.check(hidden % packed == 0, "{} heads do not divide the hidden size {}", packed, hidden);
  const int64_t size = hidden / packed, q = heads.query * size, k = heads.key * size;
  return {split_heads(columns(query, 0, q), heads.query), split_heads(columns(query, q, k), heads.key),
          split_heads(columns(query, q + k, k), heads.key)};
}

/// Every head divided by its root mean square, times the weights in input `i`, if they are given.
Traced normalized(const EvalContext& c, Steps& steps, const Traced& x, size_t i) {
  if (!c.has_input(i)) return x;
  const int64_t size = x.value.shape().back();
  c.check(c.shape(i) == Shape{size} && size > 0, "input {} has shape {} where ({},) is needed", i,
          c.shape(i).str(), size);
  return steps.multiply(steps.normalize(x, size, c.attr_float("qk_norm_epsilon"), false),
                        steps.given(c.input(i)));
}

/// The number of past keys of each sequence: those before the queries.
std::vector<int64_t> past_lengths(const EvalContext& c, int64_t batch, int64_t queries) {
  c.check(c.input(kLengths).numel() == batch && c.input(kTotal).numel() == 1,
          "seqlens_k of shape {} and total_sequence_length of shape {} do not go with a batch of {}",
          c.shape(kLengths).str(), c.shape(kTotal).str(), batch);
  const int64_t total = c.input(kTotal).to_int64()[0];
  const bool prompt = queries == total;
  std::vector<int64_t> lengths = c.input(kLengths).to_int64();
  for (int64_t& n : lengths) {
    c.check(n >= 0 && n < total, "seqlens_k has {}; with total_sequence_length {} it must be in [0, {})", n,
            total, total);
    n = prompt ? 0 : n + 1 - queries;
    c.check(n >= 0, "a sequence is shorter than the {} queries", queries);
  }
  return lengths;
}

/// The cache afterwards, [batch, heads, rows, size]: past rows, new rows, zeros.
Traced present(const EvalContext& c, Steps& steps, size_t past, const Traced& added,
               const std::vector<int64_t>& before) {
  const Shape& s = added.value.shape();
  int64_t rows = c.input(kTotal).to_int64()[0];
  Traced old;
  if (c.has_input(past)) {
    const Shape& p = c.shape(past);
    c.check(p.size() == 4 && p[0] == s[0] && p[1] == s[1] && p[3] == s[3],
            "a past of shape {} does not go with the new part of shape {}", p.str(), s.str());
    rows = std::max(rows, p[2]);
    old = steps.given(c.input(past));
  }
  const auto join = [&](const Tensor& first, const Tensor& second) {
    Tensor out = Tensor::zeros(DType::kFloat64, {s[0], s[1], rows, s[3]});
    double* to = out.mutable_data<double>();
    for (int64_t i = 0; i < s[0] * s[1]; ++i) {
      const int64_t used = before[static_cast<size_t>(i / s[1])];
      c.check(used == 0 || (first.defined() && used <= first.dim(2)), "{} past keys are not in the past",
              used);
      double* head = to + i * rows * s[3];
      if (used > 0) std::copy_n(first.data<double>() + i * first.dim(2) * s[3], used * s[3], head);
      const int64_t fresh = std::min(s[2], rows - used);
      std::copy_n(second.data<double>() + i * s[2] * s[3], fresh * s[3], head + used * s[3]);
    }
    return out;
  };
  return {join(old.value, added.value), steps.bounds() ? join(old.error, added.error) : Tensor()};
}

/// The rows of a cache that take part.
Traced leading_rows(const Traced& cache, int64_t rows) {
  Shape part = cache.value.shape();
  if (part[2] == rows) return cache;
  const std::vector<int64_t> strides = part.strides();
  part[2] = rows;
  return Steps::move(cache, [&](const Tensor& t) { return copy_region(t, {0, strides}, part); });
}

/// One position for every (batch, query).
std::vector<int64_t> rotary_positions(const EvalContext& c, const std::vector<int64_t>& before,
                                      int64_t queries) {
  if (c.has_input(kPositions)) {
    c.check(c.shape(kPositions) == (Shape{static_cast<int64_t>(before.size()), queries}),
            "position_ids has shape {} where ({}, {}) is needed", c.shape(kPositions).str(), before.size(),
            queries);
    return c.input(kPositions).to_int64();
  }
  const std::vector<int64_t> lengths = c.input(kLengths).to_int64();
  std::vector<int64_t> out;
  for (size_t b = 0; b < before.size(); ++b)
    // Rows of a prompt after the end of its sequence are padding; they get the position 1, which is never
    // read.
    for (int64_t s = 0; s < queries; ++s) out.push_back(before[b] + s <= lengths[b] ? before[b] + s : 1);
  return out;
}

/// One more score for each head: that of input head_sink, or 0 for a smooth softmax.
std::vector<double> sinks(const EvalContext& c, int64_t heads) {
  if (c.has_input(kSink)) {
    c.check(c.shape(kSink) == Shape{heads}, "head_sink has shape {} for {} heads", c.shape(kSink).str(),
            heads);
    const auto values = c.input(kSink).span<double>();
    return {values.begin(), values.end()};
  }
  return std::vector<double>(c.attr_int("smooth_softmax") == 1 ? static_cast<size_t>(heads) : 0);
}

/// The content of output 3.
HeadsInput::Show shown(const OpContext& c) {
  const int64_t which = c.attr_int("qk_output");
  c.check(which >= 0 && which <= 2, "attribute 'qk_output' is {}; it must be 0, 1 or 2", which);
  c.check(which != 0 || !c.wants_output(3), "output_qk is asked for, but attribute 'qk_output' is 0");
  if (!c.wants_output(3)) return HeadsInput::Show::kNothing;
  return which == 1 ? HeadsInput::Show::kBiased : HeadsInput::Show::kProbabilities;
}

/// Scores in the output are 0 where a query may not attend.
Traced forbidden_as_zero(Traced scores) {
  if (!scores.value.defined()) return scores;
  for (double& s : scores.value.mutable_span<double>())
    if (std::isinf(s)) s = 0;
  return scores;
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  check_supported(c);
  const HeadCounts heads(c);
  Operands in = read_operands(c, steps, heads);
  const Shape q = in.query.value.shape();
  const std::vector<int64_t> before = past_lengths(c, q[0], q[2]);
  in.query = normalized(c, steps, in.query, kQueryNorm);
  in.key = normalized(c, steps, in.key, kKeyNorm);
  if (c.attr_int("do_rotary", 0) != 0) {
    c.check(c.has_input(kCosines) && c.has_input(kSines), "rotary positions need cos_cache and sin_cache");
    const RotaryTables tables{c.input(kCosines), c.input(kSines), c.attr_int("rotary_interleaved", 0) != 0};
    const std::vector<int64_t> positions = rotary_positions(c, before, q[2]);
    in.query = rotate(steps, in.query, tables, positions);
    in.key = rotate(steps, in.key, tables, positions);
  }
  outputs.resize(4);
  outputs[1] = present(c, steps, kPastKey, in.key, before);
  outputs[2] = present(c, steps, kPastValue, in.value, before);
  const int64_t total = c.input(kTotal).to_int64()[0];
  const int64_t window = c.attr_int("local_window_size");
  const bool causal = c.attr_int("causal") != 0;
  const std::vector<int64_t> lengths = c.input(kLengths).to_int64();
  HeadsInput core{.query = in.query,
                  .key = leading_rows(outputs[1], total),
                  .value = leading_rows(outputs[2], total),
                  .scale = attention_scale(c, q[3]),
                  .softcap = c.attr_float("softcap", 0),
                  .sinks = sinks(c, heads.query),
                  .show = shown(c)};
  const ScoreBias bias(c, kScoreBias, {q[0], heads.query, q[2], total});
  core.bias = [&](int64_t b, int64_t h, int64_t s, double* scores) {
    bias.add(b, h, s, scores);
    const int64_t position = before[static_cast<size_t>(b)] + s;
    for (int64_t j = 0; j < total; ++j) {
      const bool outside = j > lengths[static_cast<size_t>(b)] || (causal && j > position);
      if (outside || (window > 0 && j <= position - window))
        scores[j] = -std::numeric_limits<double>::infinity();
    }
  };
  HeadsOutput result = attend(steps, core);
  outputs[0] = std::move(result.output);
  outputs[3] = forbidden_as_zero(std::move(result.scores));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  query: T
in  key: T ?
in  value: T ?
in  past_key: T_CACHE ?
in  past_value: T_CACHE ?
in  seqlens_k: M
in  total_sequence_length: M
in  cos_cache: T ?
in  sin_cache: T ?
in  position_ids: int64 ?
in  attention_bias: T ?
in  head_sink: T ?
in  k_scale: T_KV_SCALE ?
in  v_scale: T_KV_SCALE ?
in  q_norm_weight: T ?
in  k_norm_weight: T ?
out output: T
out present_key: T_CACHE ?
out present_value: T_CACHE ?
out output_qk: T ?
attr kv_cache_bit_width: int
attr num_heads: int required
attr softcap: float
attr kv_num_heads: int required
attr sliding_window_cache: int = 0
attr do_rotary: int
attr causal: int = 1
attr scale: float
attr local_window_size: int = -1
attr rotary_interleaved: int
attr qk_output: int = 0
attr qk_norm_epsilon: float = 9.99999997e-07
attr v_quant_type: string = "NONE"
attr smooth_softmax: int = -1
attr k_quant_type: string = "NONE"
type T: float16 bfloat16 float
type T_CACHE: float float16 bfloat16 uint8 int8 float8e4m3fn
type T_KV_SCALE: float
type M: int32)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "GroupQueryAttention",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_GroupQueryAttention
