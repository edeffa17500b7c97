#include "ops/contrib/self_attention.h"

#include <algorithm>

#include "ops/contrib/key_mask.h"
#include "ops/infer_util.h"
#include "ops/nn/heads.h"
#include "ops/nn/window.h"
#include "ops/tensor/strided_copy.h"

namespace assay {
namespace {

int64_t read_heads(const OpContext& c) {
  const int64_t heads = c.attr_int("num_heads");
  c.check(heads > 0, "attribute 'num_heads' is {}; it must be positive", heads);
  return heads;
}

/// Cases that no CPU kernel computes and no description defines.
void check_attributes(const OpContext& c) {
  c.check(c.attr_int("do_rotary", 0) == 0, "attribute 'do_rotary' is set; that cannot be evaluated");
}

/// Half `i` of a past [2, batch, heads, rows, size]: keys, then values.
Tensor half(const Tensor& past, int64_t i) {
  Shape part(past.shape().begin() + 1, past.shape().end());
  return copy_region(past, {i * part.numel(), part.strides()}, part);
}

std::optional<int64_t> buffer_length(const EvalContext& c, const SelfAttentionInputs& in) {
  if (c.attr_int("past_present_share_buffer", 0) == 0) return {};
  c.check(c.has_input(in.past_length) && c.input(in.past_length).numel() == 1,
          "a shared buffer needs one past_sequence_length");
  return c.input(in.past_length).to_int64()[0];
}

Traced stacked(const Traced& keys, const Traced& values) {
  const auto join = [](const Tensor& a, const Tensor& b) {
    Shape all = a.shape();
    all.insert_at(0, 2);
    Tensor out = Tensor::allocate(DType::kFloat64, all);
    double* to = out.mutable_data<double>();
    std::copy_n(b.data<double>(), b.numel(), std::copy_n(a.data<double>(), a.numel(), to));
    return out;
  };
  return {join(keys.value, values.value), keys.error.defined() ? join(keys.error, values.error) : Tensor()};
}

}  // namespace

HiddenSizes::HiddenSizes(const OpContext& c, int64_t columns) {
  const std::vector<int64_t> sizes =
      knows_attr(c, "qkv_hidden_sizes") ? c.attr_ints("qkv_hidden_sizes") : std::vector<int64_t>();
  const int64_t heads = read_heads(c);
  if (sizes.empty()) {
    c.check(columns % 3 == 0, "{} columns of weights do not divide into queries, keys and values", columns);
    query = value = columns / 3;
  } else {
    c.check(sizes.size() == 3 && sizes[0] == sizes[1] && sizes[0] >= 0 && sizes[2] >= 0 &&
                sizes[0] <= columns && sizes[2] <= columns && 2 * sizes[0] + sizes[2] == columns,
            "attribute 'qkv_hidden_sizes' does not divide {} columns of weights", columns);
    query = sizes[0];
    value = sizes[2];
  }
  c.check(query % heads == 0 && value % heads == 0, "{} heads do not divide hidden sizes of {} and {}", heads,
          query, value);
}

void self_attention(const EvalContext& c, Steps& steps, const Traced& projected,
                    const SelfAttentionInputs& in, std::vector<Traced>& outputs) {
  check_attributes(c);
  const int64_t heads = read_heads(c);
  const HiddenSizes sizes(c, projected.value.shape().back());
  const auto part = [&](int64_t first, int64_t count) {
    return split_heads(columns(projected, first, count), heads);
  };
  const Traced query = part(0, sizes.query), key = part(sizes.query, sizes.query),
               value = part(2 * sizes.query, sizes.value);
  Tensor past_key, past_value;
  if (c.has_input(in.past)) {
    const Tensor& past = c.input(in.past);
    c.check(past.rank() == 5 && past.dim(0) == 2 && sizes.query == sizes.value,
            "a past of shape {} does not go with hidden sizes of {} and {}", past.shape().str(), sizes.query,
            sizes.value);
    past_key = half(past, 0);
    past_value = half(past, 1);
  }
  const std::optional<int64_t> length = c.has_input(in.past) ? buffer_length(c, in) : std::nullopt;
  const Cache keys = extend_cache(steps, past_key, length, key),
              values = extend_cache(steps, past_value, length, value);
  const Shape& q = query.value.shape();
  const int64_t total = keys.rows.value.dim(2);
  const KeyMask mask(c, in.mask, c.attr_int("unidirectional") != 0, q[0], q[2], total);
  const ScoreBias bias(c, in.bias, {q[0], heads, q[2], total});
  HeadsInput core{.query = query, .key = keys.rows, .value = values.rows, .scale = attention_scale(c, q[3])};
  core.bias = [&](int64_t b, int64_t h, int64_t s, double* scores) {
    bias.add(b, h, s, scores);
    mask.add(b, s, scores);
  };
  outputs.resize(2);
  outputs[0] = attend(steps, core).output;
  if (c.wants_output(1)) {
    c.check(sizes.query == sizes.value, "keys of {} and values of {} elements do not stack to one present",
            sizes.query, sizes.value);
    outputs[1] = stacked(keys.present, values.present);
  }
}

void infer_self_attention(InferContext& c, const SelfAttentionInputs& in, DType dtype) {
  const int64_t heads = read_heads(c);
  check_attributes(c);
  const Dims *x = c.input_dims(0), *w = c.input_dims(1),
             *past = c.has_input(in.past) ? c.input_dims(in.past) : nullptr;
  c.check(x == nullptr || x->size() == 3, "the input has {} dimensions where 3 are needed",
          x ? x->size() : 0);
  c.check(w == nullptr || w->size() == 2, "the weights have {} dimensions where 2 are needed",
          w ? w->size() : 0);
  c.check(past == nullptr || past->size() == 5, "the past has {} dimensions where 5 are needed",
          past ? past->size() : 0);
  if (x != nullptr && w != nullptr && (*x)[2].is_known() && (*w)[0].is_known())
    c.check((*x)[2].value() == (*w)[0].value(), "the input has {} columns, the weights {} rows",
            (*x)[2].value(), (*w)[0].value());
  Dim hidden, size;
  if (w != nullptr && (*w)[1].is_known()) {
    const HiddenSizes sizes(c, (*w)[1].value());
    hidden = Dim(sizes.value);
    size = Dim(sizes.query / heads);
  }
  const Dim batch = x ? (*x)[0] : Dim(), sequence = x ? (*x)[1] : Dim();
  c.set_output(0, dtype, {batch, sequence, hidden});
  Dim total = c.has_input(in.past) ? past ? dim_add((*past)[3], sequence) : Dim() : sequence;
  if (c.attr_int("past_present_share_buffer", 0) != 0 && past) total = (*past)[3];
  c.set_output(1, dtype, {Dim(2), batch, Dim(heads), total, size});
}

}  // namespace assay
