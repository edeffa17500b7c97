#include "ops/nn/heads.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/eval_util.h"
#include "ops/numerics/rounding.h"
#include "ops/tensor/strided_copy.h"

namespace assay {
namespace {

/// Scores that are computed at a time.
constexpr int64_t kBlockScores = int64_t{1} << 18;

/// Rows [first, first + count) of one head of [batch, heads, rows, columns].
Traced rows_of(const Traced& x, int64_t index, int64_t first, int64_t count) {
  const Shape& s = x.value.shape();
  const Shape matrix = {count, s[3]};
  return Steps::move(x, [&](const Tensor& t) {
    return copy_region(t, {(index * s[2] + first) * s[3], matrix.strides()}, matrix);
  });
}

Traced head_of(const Traced& x, int64_t index) { return rows_of(x, index, 0, x.value.dim(2)); }

Traced transposed(const Traced& x) {
  return Steps::move(x, [](const Tensor& t) { return permuted(t, {1, 0}); });
}

void check(const HeadsInput& in) {
  const Shape &q = in.query.value.shape(), &k = in.key.value.shape(), &v = in.value.value.shape();
  require(q.size() == 4 && k.size() == 4 && v.size() == 4 && q[0] == k[0] && q[0] == v[0] && k[1] == v[1] &&
              k[2] == v[2] && q[3] == k[3],
          ErrorCode::kInvalidModel,
          "queries {}, keys {} and values {} (batch, heads, sequence, size) do not go together", q.str(),
          k.str(), v.str());
  require(k[1] > 0 && q[1] % k[1] == 0, ErrorCode::kInvalidModel,
          "{} heads of keys do not divide {} heads of queries", k[1], q[1]);
  require(in.sinks.empty() || static_cast<int64_t>(in.sinks.size()) == q[1], ErrorCode::kInvalidModel,
          "{} sinks are given for {} heads", in.sinks.size(), q[1]);
}

Traced capped(Steps& steps, const Traced& scores, double cap) {
  if (cap == 0) return scores;
  return steps.map(
      scores, [=](double x) { return cap * std::tanh(x / cap); }, 1,
      [](double, double y) { return (kInverseUlps + 3) * std::fabs(y); });
}

/// Some of a head's queries.
struct Block {
  int64_t batch, head, first, rows;
};

/// The rows of a block's result, to be placed in the whole.
struct BlockResult {
  Traced output, scores;
};

BlockResult attend_block(Steps steps, const HeadsInput& in, const Block& b) {
  using Show = HeadsInput::Show;
  const Shape &q = in.query.value.shape(), &k = in.key.value.shape();
  const int64_t key_index = b.batch * k[1] + b.head / (q[1] / k[1]);
  BlockResult out;
  Traced scores = steps.product(rows_of(in.query, b.batch * q[1] + b.head, b.first, b.rows),
                                transposed(head_of(in.key, key_index)));
  scores = steps.scale(scores, in.scale);
  if (in.show == Show::kProducts) out.scores = scores;
  scores = capped(steps, scores, in.softcap);
  if (in.show == Show::kCapped) out.scores = scores;
  if (in.bias) {
    Tensor bias = Tensor::zeros(DType::kFloat64, {b.rows, k[2]});
    double* row = bias.mutable_data<double>();
    for (int64_t i = 0; i < b.rows; ++i) in.bias(b.batch, b.head, b.first + i, row + i * k[2]);
    scores = steps.add(scores, steps.given(bias));
  }
  if (in.show == Show::kBiased) out.scores = scores;
  constexpr double kNoSink = -std::numeric_limits<double>::infinity();
  const double sink = in.sinks.empty() ? kNoSink : in.sinks[static_cast<size_t>(b.head)];
  const Traced p = in.softmax_u > steps.u() ? steps.rounding_to(in.softmax_u).softmax(scores, sink)
                                            : steps.softmax(scores, sink);
  if (in.show == Show::kProbabilities) out.scores = p;
  out.output = steps.product(p, head_of(in.value, key_index));
  return out;
}

}  // namespace

Traced split_heads(const Traced& x, int64_t heads) {
  const Shape& s = x.value.shape();
  require(s.size() == 3, ErrorCode::kInvalidModel, "an input has shape {} where 3 dimensions are needed",
          s.str());
  require(heads > 0 && s[2] % heads == 0, ErrorCode::kInvalidModel,
          "{} heads do not divide the hidden size {}", heads, s[2]);
  return Steps::move(x, [&](const Tensor& t) {
    return permuted(t.reshaped({s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
  });
}

Traced join_heads(const Traced& x) {
  const Shape& s = x.value.shape();
  return Steps::move(x, [&](const Tensor& t) {
    return permuted(t, {0, 2, 1, 3}).reshaped({s[0], s[2], s[1] * s[3]});
  });
}

Traced columns(const Traced& x, int64_t first, int64_t count) {
  Shape part = x.value.shape();
  const std::vector<int64_t> strides = part.strides();
  part[part.size() - 1] = count;
  return Steps::move(x, [&](const Tensor& t) { return copy_region(t, {first, strides}, part); });
}

namespace {

/// `first` with `second` written over it from row `at` of dimension 2 on, and as many rows as both need.
Tensor joined(const Tensor& first, const Tensor& second, int64_t at) {
  Shape all = second.shape();
  all[2] = std::max(first.dim(2), at + second.dim(2));
  Tensor out = Tensor::allocate(DType::kFloat64, all);
  strided_copy(first, {0, first.shape().strides()}, out, {0, all.strides()}, first.shape());
  strided_copy(second, {0, second.shape().strides()}, out, {at * all[3], all.strides()}, second.shape());
  return out;
}

}  // namespace

Cache extend_cache(Steps& steps, const Tensor& past, std::optional<int64_t> length, const Traced& added) {
  if (!past.defined()) return {added, added};
  const Shape &before = past.shape(), &after = added.value.shape();
  require(before.size() == 4 && before[0] == after[0] && before[1] == after[1] && before[3] == after[3],
          ErrorCode::kInvalidModel, "a past of shape {} does not go with the new part of shape {}",
          before.str(), after.str());
  const int64_t used = length.value_or(before[2]);
  require(used >= 0 && used <= before[2] && (!length || used + after[2] <= before[2]),
          ErrorCode::kInvalidModel, "{} rows in use and {} new ones do not fit a past of shape {}", used,
          after[2], before.str());
  const Traced old = steps.given(past);
  Cache out;
  out.present.value = joined(old.value, added.value, used);
  if (steps.bounds()) out.present.error = joined(old.error, added.error, used);
  Shape rows = after;
  rows[2] += used;
  const std::vector<int64_t> strides = out.present.value.shape().strides();
  out.rows = Steps::move(out.present, [&](const Tensor& t) { return copy_region(t, {0, strides}, rows); });
  return out;
}

HeadsOutput attend(Steps& steps, const HeadsInput& in) {
  check(in);
  const Shape &q = in.query.value.shape(), &k = in.key.value.shape(), &v = in.value.value.shape();
  const Shape output = {q[0], q[2], q[1] * v[3]}, scores = {q[0], q[1], q[2], k[2]};
  const bool shows = in.show != HeadsInput::Show::kNothing;
  const auto allocate = [&](const Shape& shape, bool wanted) {
    return Traced{wanted ? Tensor::allocate(DType::kFloat64, shape) : Tensor(),
                  wanted && steps.bounds() ? Tensor::allocate(DType::kFloat64, shape) : Tensor()};
  };
  HeadsOutput out{allocate(output, true), allocate(scores, shows)};
  // Taken once, before threads write.
  double* to[4] = {};
  Tensor* all[4] = {&out.output.value, &out.output.error, &out.scores.value, &out.scores.error};
  for (size_t i = 0; i < 4; ++i)
    if (all[i]->defined()) to[i] = all[i]->mutable_data<double>();
  const int64_t rows =
      std::clamp<int64_t>(kBlockScores / std::max<int64_t>(k[2], 1), 1, std::max<int64_t>(q[2], 1));
  const int64_t blocks = (q[2] + rows - 1) / rows;
  parallel_for(q[0] * q[1] * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t index = i / blocks, first = i % blocks * rows;
      const Block b = {index / q[1], index % q[1], first, std::min(rows, q[2] - first)};
      const BlockResult result = attend_block(steps.part(static_cast<uint64_t>(i)), in, b);
      const auto place = [&](const Tensor& t, double* whole) {
        for (int64_t row = 0; whole != nullptr && row < b.rows; ++row)
          std::copy_n(t.data<double>() + row * v[3], v[3],
                      whole + ((b.batch * q[2] + first + row) * q[1] + b.head) * v[3]);
      };
      place(result.output.value, to[0]);
      place(result.output.error, to[1]);
      for (const auto& [t, whole] :
           {std::pair(&result.scores.value, to[2]), std::pair(&result.scores.error, to[3])})
        if (whole != nullptr)
          std::copy_n(t->data<double>(), t->numel(), whole + (index * q[2] + first) * k[2]);
    }
  });
  return out;
}

double attention_scale(const OpContext& c, int64_t size) {
  const double scale = c.attr_float("scale", 0);
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(size));
}

}  // namespace assay
