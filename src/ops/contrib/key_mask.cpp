#include "ops/contrib/key_mask.h"

#include <algorithm>
#include <limits>

#include "ops/eval_util.h"

namespace assay {

KeyMask::KeyMask(const EvalContext& c, size_t i, bool causal, int64_t batch, int64_t queries, int64_t keys)
    : causal_(causal),
      batch_(batch),
      queries_(queries),
      keys_(keys),
      filter_(c.attr_float("mask_filter_value", -10000)) {
  if (i >= c.input_count() || !c.has_input(i)) return;
  values_ = c.input(i).to_int64();
  if (c.shape(i).size() == 1)
    read_vector(c, i);
  else
    read_matrix(c, i);
}

void KeyMask::read_vector(const EvalContext& c, size_t i) {
  const int64_t n = c.input(i).numel();
  c.check(n == batch_ || n == 2 * batch_ || n == 3 * batch_ + 2, "the mask has {} elements for a batch of {}",
          n, batch_);
  form_ = n == 2 * batch_ ? Form::kEndsAndStarts : Form::kLengths;
}

void KeyMask::read_matrix(const EvalContext& c, size_t i) {
  const Shape& s = c.shape(i);
  if (s.size() == 2 && (s[0] == batch_ || s[0] == 1) && s[1] == 1 && keys_ != 1) return;
  form_ = Form::kMatrix;
  if (s.size() == 4 && s[0] == batch_ && s[1] == 1 && s[2] == s[3] && s[2] >= keys_) {
    offset_ = (keys_ - queries_) * s[3];
    batch_stride_ = s[2] * s[3];
    query_stride_ = s[3];
    return;
  }
  c.check(s == (Shape{batch_, keys_}) || s == (Shape{batch_, queries_, keys_}),
          "a mask of shape {} does not go with a batch of {}, {} queries and {} keys", s.str(), batch_,
          queries_, keys_);
  batch_stride_ = s.numel() / std::max<int64_t>(batch_, 1);
  query_stride_ = s.size() == 3 ? keys_ : 0;
}

void KeyMask::add(int64_t batch, int64_t query, double* scores) const {
  const auto b = static_cast<size_t>(batch);
  for (int64_t j = 0; j < keys_; ++j) {
    bool masked = false;
    if (form_ == Form::kLengths) masked = j >= values_[b];
    if (form_ == Form::kEndsAndStarts)
      masked = j >= values_[b] || j < values_[b + static_cast<size_t>(batch_)];
    if (form_ == Form::kMatrix)
      masked = values_[static_cast<size_t>(offset_ + batch * batch_stride_ + query * query_stride_ + j)] <= 0;
    if (masked) scores[j] += filter_;
    if (causal_ && j > keys_ - queries_ + query) scores[j] = -std::numeric_limits<double>::infinity();
  }
}

ScoreBias::ScoreBias(const EvalContext& c, size_t i, const Shape& scores) {
  if (i >= c.input_count() || !c.has_input(i)) return;
  bias_ = c.input(i);
  c.check(bias_.rank() == 4 && broadcast(bias_.shape(), scores) == scores && bias_.dim(3) == scores[3],
          "attention_bias of shape {} does not broadcast to {}", bias_.shape().str(), scores.str());
  strides_ = broadcast_strides(bias_.shape(), scores);
  keys_ = scores[3];
}

void ScoreBias::add(int64_t batch, int64_t head, int64_t query, double* scores) const {
  if (!bias_.defined()) return;
  const double* from = bias_.data<double>() + batch * strides_[0] + head * strides_[1] + query * strides_[2];
  for (int64_t j = 0; j < keys_; ++j) scores[j] += from[j * strides_[3]];
}

}  // namespace assay
