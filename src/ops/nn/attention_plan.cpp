#include "ops/nn/attention_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "tensor/convert.h"

namespace assay {
namespace {

enum Input { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kKeyLengths };

/// [batch, heads, sequence, size] of an input in either form.
Dims head_dims(const OpContext& c, const Dims& in, const char* heads_attribute) {
  if (in.size() == 4) return in;
  c.check(in.size() == 3, "an input has {} dimensions where 3 or 4 are needed", in.size());
  const int64_t heads = c.attr_int(heads_attribute, 0);
  c.check(heads > 0, "inputs of 3 dimensions need the attribute '{}'", heads_attribute);
  c.check(!in[2].is_known() || in[2].value() % heads == 0, "{} heads do not divide the hidden size {}", heads,
          in[2].str());
  return {in[0], Dim(heads), in[1], dim_floor_div(in[2], Dim(heads))};
}

Shape head_shape(const OpContext& c, const Shape& in, const char* heads_attribute) {
  return *known_shape(head_dims(c, to_dims(in), heads_attribute));
}

void check_pasts(const OpContext& c) {
  c.check(c.has_input(kPastKey) == c.has_input(kPastValue), "past_key and past_value must be given together");
  c.check(!c.has_input(kKeyLengths) || !c.has_input(kPastKey),
          "nonpad_kv_seqlen cannot be combined with past_key");
}

/// [batch, heads, sequence, size]: rows copied from [batch, sequence, heads * size], behind the past if there
/// is one.
Tensor present(const OpContext& c, const Tensor& in, const Shape& shape, const Tensor& past) {
  if (in.rank() == 4 && !past.defined()) return in;
  const int64_t batch = shape[0], heads = shape[1], added = shape[2], size = shape[3];
  int64_t before = 0;
  if (past.defined()) {
    c.check(past.rank() == 4 && past.dim(0) == batch && past.dim(1) == heads && past.dim(3) == size,
            "a past of shape {} does not go with the new part of shape {}", past.shape().str(), shape.str());
    before = past.dim(2);
  }
  Tensor out = Tensor::allocate(DType::kFloat64, {batch, heads, before + added, size});
  const double* from = in.data<double>();
  double* to = out.mutable_data<double>();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      if (before > 0)
        to = std::copy_n(past.data<double>() + (b * heads + h) * before * size, before * size, to);
      for (int64_t s = 0; s < added; ++s) {
        const int64_t row = in.rank() == 4 ? (b * heads + h) * added + s : (b * added + s) * heads + h;
        to = std::copy_n(from + row * size, size, to);
      }
    }
  return out;
}

/// Both are numbers, and not the same one.
bool differ(const Dim& a, const Dim& b) { return a.is_known() && b.is_known() && a.value() != b.value(); }

/// Whether each head of keys serves a whole number of those of queries; true as long as that is not known.
bool may_share_heads(const Dim& queries, const Dim& keys) {
  if (!queries.is_known() || !keys.is_known()) return true;
  return keys.value() > 0 && queries.value() % keys.value() == 0;
}

/// Extents of queries, keys and values, [batch, heads, sequence, size] each.
struct HeadDims {
  Dims query, key, value;
};

/// Throws Error unless they go together.
HeadDims infer_head_dims(const OpContext& c, const Dims& q, const Dims& k, const Dims& v) {
  c.check(q.size() == k.size() && k.size() == v.size(), "Q, K and V have {}, {} and {} dimensions", q.size(),
          k.size(), v.size());
  HeadDims h{head_dims(c, q, "q_num_heads"), head_dims(c, k, "kv_num_heads"),
             head_dims(c, v, "kv_num_heads")};
  c.check(!differ(h.query[3], h.key[3]), "the heads of Q have {} elements, those of K {}", h.query[3].str(),
          h.key[3].str());
  c.check(!differ(h.key[1], h.value[1]) && !differ(h.key[2], h.value[2]),
          "K has {} heads of {} elements, V {} of {}", h.key[1].str(), h.key[2].str(), h.value[1].str(),
          h.value[2].str());
  c.check(may_share_heads(h.query[1], h.key[1]), "Q has {} heads, which the {} of K do not divide",
          h.query[1].str(), h.key[1].str());
  return h;
}

/// How many keys there are with those of the past, where it is given.
Dim total_keys(const InferContext& c, const Dim& added) {
  if (!c.has_input(kPastKey)) return added;
  const Dims* past = c.input_dims(kPastKey);
  return past != nullptr && past->size() == 4 ? dim_add((*past)[2], added) : Dim();
}

}  // namespace

void infer_attention(InferContext& c) {
  check_pasts(c);
  const DType dtype = c.input_dtype(kQuery);
  c.set_output(0, dtype);
  for (size_t i = 1; i < c.output_count(); ++i) c.set_output(i, c.input_dtype(i == 2 ? kValue : kQuery));
  const Dims *q = c.input_dims(kQuery), *k = c.input_dims(kKey), *v = c.input_dims(kValue);
  if (q == nullptr || k == nullptr || v == nullptr) return;
  const auto& [query, key, value] = infer_head_dims(c, *q, *k, *v);
  if (q->size() == 4)
    c.set_output(0, dtype, {query[0], query[1], query[2], value[3]});
  else
    c.set_output(0, dtype, {query[0], query[2], dim_mul(query[1], value[3])});
  const Dim total = total_keys(c, key[2]);
  c.set_output(1, dtype, {key[0], key[1], total, key[3]});
  c.set_output(2, c.input_dtype(kValue), {value[0], value[1], total, value[3]});
  c.set_output(3, dtype, {query[0], query[1], query[2], total});
}

AttentionPlan::AttentionPlan(const EvalContext& c) : by_sequence(c.shape(kQuery).size() == 3) {
  check_pasts(c);
  const Shape q = head_shape(c, c.shape(kQuery), "q_num_heads"),
              k = head_shape(c, c.shape(kKey), "kv_num_heads");
  const Shape v = head_shape(c, c.shape(kValue), "kv_num_heads");
  c.check(c.shape(kKey).size() == c.shape(kQuery).size() && c.shape(kValue).size() == c.shape(kQuery).size(),
          "Q, K and V have shapes {}, {} and {}", c.shape(kQuery).str(), c.shape(kKey).str(),
          c.shape(kValue).str());
  c.check(k[0] == q[0] && v[0] == q[0] && k[1] == v[1] && k[2] == v[2] && k[3] == q[3],
          "queries {}, keys {} and values {} (batch, heads, sequence, size) do not go together", q.str(),
          k.str(), v.str());
  c.check(k[1] > 0 && q[1] % k[1] == 0, "{} heads of keys do not divide {} heads of queries", k[1], q[1]);
  batch = q[0];
  heads = q[1];
  queries = q[2];
  query = present(c, c.input(kQuery), q, Tensor());
  present_key = present(c, c.input(kKey), k, c.has_input(kPastKey) ? c.input(kPastKey) : Tensor());
  present_value = present(c, c.input(kValue), v, c.has_input(kPastValue) ? c.input(kPastValue) : Tensor());
  keys = present_key.dim(2);
  c.check(present_value.dim(2) == keys, "past_key and past_value differ in length");
  scale = c.attr_float("scale", 1 / std::sqrt(static_cast<double>(q[3])));
  softcap = c.attr_float("softcap");
  causal_ = c.attr_int("is_causal") != 0;
  if (c.since() >= 25) {
    left_ = c.attr_int("left_window_size");
    right_ = c.attr_int("right_window_size");
    c.check(left_ >= -1 && right_ >= -1,
            "a window of {} to the left and {} to the right is neither -1 nor a length", left_, right_);
  }
  offsets_.assign(static_cast<size_t>(batch), keys - k[2]);
  lengths_.assign(static_cast<size_t>(batch), keys);
  if (c.has_input(kKeyLengths)) {
    lengths_ = c.input(kKeyLengths).to_int64();
    c.check(static_cast<int64_t>(lengths_.size()) == batch,
            "nonpad_kv_seqlen has {} elements for a batch of {}", lengths_.size(), batch);
    for (size_t b = 0; b < lengths_.size(); ++b) {
      c.check(lengths_[b] >= 0 && lengths_[b] <= keys, "nonpad_kv_seqlen has {}, which is not in [0, {}]",
              lengths_[b], keys);
      offsets_[b] = lengths_[b] - queries;
    }
  }
  read_mask(c);
}

void AttentionPlan::read_mask(const EvalContext& c) {
  if (!c.has_input(kMask)) return;
  const Tensor& given = c.input(kMask);
  const Shape& shape = given.shape();
  c.check(shape.size() >= 1 && shape.size() <= 4 && shape.back() <= keys,
          "attn_mask has shape {} for {} keys", shape.str(), keys);
  mask_keys_ = shape.back();
  const Shape all = {batch, heads, queries, mask_keys_};
  c.check(broadcast(shape, all) == all, "attn_mask of shape {} does not broadcast to {}", shape.str(),
          all.str());
  mask_strides_ = broadcast_strides(shape, all);
  if (given.dtype() != DType::kBool) {
    mask_ = to_float64(given);
  } else {
    mask_ = map_elements<bool, double>(
        given, [](bool b) { return b ? 0.0 : -std::numeric_limits<double>::infinity(); });
  }
}

void AttentionPlan::bias(int64_t b, int64_t head, int64_t query, double* out) const {
  constexpr double kForbidden = -std::numeric_limits<double>::infinity();
  const int64_t position = offsets_[static_cast<size_t>(b)] + query;
  int64_t first = 0, last = lengths_[static_cast<size_t>(b)] - 1;
  if (mask_.defined()) last = std::min(last, mask_keys_ - 1);
  if (causal_) last = std::min(last, position);
  if (right_ >= 0 && right_ < keys) last = std::min(last, position + right_);
  if (left_ >= 0) first = std::max(first, position - left_);
  std::fill_n(out, keys, kForbidden);
  for (int64_t j = first; j <= last; ++j) {
    out[j] = 0;
    if (mask_.defined())
      out[j] = mask_.data<double>()[b * mask_strides_[0] + head * mask_strides_[1] +
                                    query * mask_strides_[2] + j * mask_strides_[3]];
  }
}

}  // namespace assay
