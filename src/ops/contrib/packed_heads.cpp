#include "ops/contrib/packed_heads.h"

#include "ops/infer_util.h"
#include "ops/nn/heads.h"
#include "ops/tensor/strided_copy.h"

namespace assay {
namespace {

/// Part `i` of [batch, sequence, heads, parts, size] as [batch, heads, sequence, size].
Traced unpacked_heads(const Traced& x, int64_t i) {
  const Shape& s = x.value.shape();
  const Shape part = {s[0], s[1], s[2], s[4]};
  const std::vector<int64_t> strides = s.strides();
  return Steps::move(x, [&](const Tensor& t) {
    return permuted(copy_region(t, {i * s[4], {strides[0], strides[1], strides[2], strides[4]}}, part),
                    {0, 2, 1, 3});
  });
}

/// Elements [first, first + size) of the bias, added along the last dimension of [B, S, size].
Traced biased(const EvalContext& c, Steps& steps, const Traced& x, size_t bias, int64_t first) {
  if (!c.has_input(bias)) return x;
  const int64_t size = x.value.shape().back();
  c.check(c.shape(bias).size() == 1 && c.shape(bias)[0] >= first + size,
          "the bias has shape {} where {} elements are needed", c.shape(bias).str(), first + size);
  return steps.add(x, columns(steps.given(c.input(bias)), first, size));
}

HeadOperands read_all_in_query(const EvalContext& c, Steps& steps, const HeadInputs& in, int64_t heads) {
  const Shape& q = c.shape(in.query);
  c.check(!c.has_input(in.value), "a value is given without a key");
  Traced x = steps.given(c.input(in.query));
  if (q.size() == 5) {
    c.check(q[2] == heads && q[3] == 3, "a query of shape {} is not (batch, sequence, {}, 3, size)", q.str(),
            heads);
    HeadOperands out{unpacked_heads(x, 0), unpacked_heads(x, 1), unpacked_heads(x, 2)};
    if (!c.has_input(in.bias)) return out;
    int64_t first = 0;
    for (Traced* part : {&out.query, &out.key, &out.value}) {
      *part = split_heads(biased(c, steps, join_heads(*part), in.bias, first), heads);
      first += heads * q[4];
    }
    return out;
  }
  c.check(q.size() == 3 && q[2] % (3 * heads) == 0,
          "a query of shape {} does not hold queries, keys and values of {} heads", q.str(), heads);
  const int64_t size = q[2] / 3;
  const auto part = [&](int64_t i) {
    return split_heads(biased(c, steps, columns(x, i * size, size), in.bias, i * size), heads);
  };
  return {part(0), part(1), part(2)};
}

}  // namespace

int64_t attention_heads(const OpContext& c) {
  const int64_t heads = c.attr_int("num_heads");
  c.check(heads > 0, "attribute 'num_heads' is {}; it must be positive", heads);
  return heads;
}

HeadOperands read_heads(const EvalContext& c, Steps& steps, const HeadInputs& in) {
  const int64_t heads = attention_heads(c);
  if (!c.has_input(in.key)) return read_all_in_query(c, steps, in, heads);
  const Shape &q = c.shape(in.query), &k = c.shape(in.key);
  c.check(q.size() == 3, "a query with a key has shape {} where 3 dimensions are needed", q.str());
  const Traced query = split_heads(biased(c, steps, steps.given(c.input(in.query)), in.bias, 0), heads);
  const Traced key = steps.given(c.input(in.key));
  if (k.size() == 5) {
    c.check(k[2] == heads && k[3] == 2 && !c.has_input(in.value) && !c.has_input(in.bias),
            "a key of shape {} with its values has (batch, sequence, {}, 2, size), no value and no bias",
            k.str(), heads);
    return {query, unpacked_heads(key, 0), unpacked_heads(key, 1)};
  }
  c.check(c.has_input(in.value) && c.shape(in.value).size() == k.size(), "key and value must be of one form");
  const Traced value = steps.given(c.input(in.value));
  if (k.size() == 4) {
    c.check(k[1] == heads, "a key of shape {} has not {} heads", k.str(), heads);
    return {query, key, value};
  }
  return {query, split_heads(biased(c, steps, key, in.bias, q[2]), heads),
          split_heads(biased(c, steps, value, in.bias, 2 * q[2]), heads)};
}

HeadExtents infer_heads(const InferContext& c, const HeadInputs& in) {
  const int64_t heads = attention_heads(c);
  HeadExtents out;
  const Dims *q = c.input_dims(in.query), *k = c.has_input(in.key) ? c.input_dims(in.key) : nullptr,
             *v = c.has_input(in.value) ? c.input_dims(in.value) : nullptr;
  if (q == nullptr) return out;
  c.check(q->size() == 3 || q->size() == 5, "the query has {} dimensions where 3 or 5 are needed", q->size());
  const auto divided = [&](const Dim& hidden, int64_t by) {
    c.check(!hidden.is_known() || hidden.value() % by == 0, "{} heads do not divide the hidden size {}",
            heads, hidden.str());
    return dim_floor_div(hidden, Dim(by));
  };
  out.batch = (*q)[0];
  out.queries = (*q)[1];
  if (!c.has_input(in.key)) {
    out.keys = out.queries;
    out.size = out.value_size = q->size() == 5 ? (*q)[4] : divided((*q)[2], 3 * heads);
    return out;
  }
  c.check(q->size() == 3, "a query with a key has {} dimensions where 3 are needed", q->size());
  out.size = divided((*q)[2], heads);
  if (k == nullptr) return out;
  c.check(k->size() >= 3 && k->size() <= 5, "the key has {} dimensions where 3 to 5 are needed", k->size());
  out.keys = (*k)[k->size() == 4 ? 2 : 1];
  if (k->size() == 5) out.value_size = (*k)[4];
  if (k->size() == 5 || v == nullptr) return out;
  c.check(v->size() == k->size(), "key and value have {} and {} dimensions", k->size(), v->size());
  out.value_size = v->size() == 4 ? (*v)[3] : divided((*v)[2], heads);
  return out;
}

}  // namespace assay
