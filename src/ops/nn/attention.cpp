// Attention: softmax(scale * Q K^T, capped, plus masks) V for every head. Past keys and values come before
// the new ones. A query that may attend to nothing gives zeros.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/eval_util.h"
#include "ops/nn/attention_plan.h"
#include "ops/numerics/noise.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay {
namespace {

/// Scores that are worked on at a time.
constexpr int64_t kBlockScores = 1 << 18;

/// What the fourth output shows.
enum Stage { kProduct, kCapped, kBiased, kProbabilities };

int64_t read_stage(const OpContext& c) {
  const int64_t stage = c.attr_int("qk_matmul_output_mode");
  c.check(stage >= kProduct && stage <= kProbabilities,
          "attribute 'qk_matmul_output_mode' is {}; it must be 0 to 3", stage);
  return stage;
}

/// Calls f(b, head, first query, number of queries) for blocks of rows, in parallel.
template <typename F>
void for_each_block(const AttentionPlan& p, F f) {
  const int64_t rows =
      std::clamp<int64_t>(kBlockScores / std::max<int64_t>(p.keys, 1), 1, std::max<int64_t>(p.queries, 1));
  const int64_t blocks = (p.queries + rows - 1) / rows;
  parallel_for(p.batch * p.heads * blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t at = i % blocks * rows, head = i / blocks % p.heads;
      f(i / blocks / p.heads, head, at, std::min(rows, p.queries - at));
    }
  });
}

/// The random errors of a noisy evaluation, of the sizes to expect: a sum of n terms errs by
/// u ((1 + sqrt(n / 3)) |y| + the sum of |terms|) (docs/numerics.md). They depend on the key and the place
/// only. Rows are those of a query, given by its number among all heads.
class AttentionNoise {
 public:
  /// `u_softmax` is the unit roundoff of what the probabilities are computed in.
  AttentionNoise(const AttentionPlan& plan, double u, double u_softmax, uint64_t key)
      : p_(plan), u_(u), u_softmax_(u_softmax), key_(key) {}

  /// Of scale * Q K^T. The terms of a score are at most `length`, of the query, times the norm of the key.
  void perturb_products(int64_t query, double length, const std::vector<double>& norms, double* row) const {
    const uint64_t key = mix_key(key_, static_cast<uint64_t>(4 * query));
    const double relative = 2 + expected_additions(static_cast<double>(p_.head_size)),
                 size = std::fabs(p_.scale) * length;
    for (int64_t j = 0; j < p_.keys; ++j)
      row[j] += u_ * (relative * std::fabs(row[j]) + size * norms[static_cast<size_t>(j)]) * at(key, j);
  }
  /// Of the cap and the sum with the mask.
  void perturb_biased(int64_t query, double* row) const {
    const uint64_t key = mix_key(key_, static_cast<uint64_t>(4 * query + 1));
    const double relative = p_.softcap > 0 ? 4 : 1;
    for (int64_t j = 0; j < p_.keys; ++j) row[j] *= 1 + u_ * relative * at(key, j);
  }
  /// Of the softmax of `scores`: the differences to the largest, the exponentials, their sum and the
  /// quotient.
  void perturb_probabilities(int64_t query, const std::vector<double>& scores, double* row) const {
    const uint64_t key = mix_key(key_, static_cast<uint64_t>(4 * query + 2));
    const double largest = *std::max_element(scores.begin(), scores.end());
    const double sum = expected_additions(static_cast<double>(p_.keys)) * at(key, p_.keys);
    for (int64_t j = 0; j < p_.keys; ++j) {
      if (row[j] == 0) continue;
      const double own = kLibraryUlps / 2 + largest - scores[static_cast<size_t>(j)];
      row[j] *= 1 + u_softmax_ * (sum + own * at(key, j));
    }
  }
  /// Of probabilities times values. The terms of an element are at most the norm of the probabilities times
  /// the norm of a column of values, and at most the column's largest.
  void perturb_output(int64_t query, double length, const std::vector<double>& norms,
                      const std::vector<double>& largest, double* row) const {
    const uint64_t key = mix_key(key_, static_cast<uint64_t>(4 * query + 3));
    const double relative = 1 + expected_additions(static_cast<double>(p_.keys));
    for (int64_t m = 0; m < p_.value_size; ++m) {
      const auto column = static_cast<size_t>(m);
      const double terms = std::min(length * norms[column], largest[column]);
      row[m] += u_ * (relative * std::fabs(row[m]) + terms) * at(key, m);
    }
  }

 private:
  static double at(uint64_t key, int64_t place) { return noise(key, static_cast<uint64_t>(place)); }

  const AttentionPlan& p_;
  double u_, u_softmax_;
  uint64_t key_;
};

/// Euclidean norms and largest magnitudes of a matrix' columns.
struct Columns {
  Columns(kernels::MatrixView m, int64_t rows, int64_t columns)
      : norms(static_cast<size_t>(columns)), largest(norms.size()) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < columns; ++k) {
        const double x = m.data[r * m.row_stride + k * m.column_stride];
        norms[static_cast<size_t>(k)] += x * x;
        largest[static_cast<size_t>(k)] = std::max(largest[static_cast<size_t>(k)], std::fabs(x));
      }
    for (double& n : norms) n = std::sqrt(n);
  }
  std::vector<double> norms, largest;
};

double norm(const double* x, int64_t n, int64_t stride = 1) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i * stride] * x[i * stride];
  return std::sqrt(sum);
}

/// scale * Q K^T of a block of queries, row by row.
std::vector<double> products(const AttentionPlan& p, int64_t b, int64_t head, int64_t first, int64_t rows) {
  std::vector<double> scores(static_cast<size_t>(rows * p.keys));
  kernels::gemm(rows, p.keys, p.head_size, p.query_rows(b, head, first), p.key_columns(b, head),
                scores.data(), p.keys);
  for (double& s : scores) s *= p.scale;
  return scores;
}

double cap(const AttentionPlan& p, double score) {
  return p.softcap > 0 ? p.softcap * std::tanh(score / p.softcap) : score;
}

/// Turns scores into probabilities, in place.
void softmax(double* scores, int64_t count) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t j = 0; j < count; ++j)
    if (scores[j] > largest || std::isnan(scores[j])) largest = scores[j];
  for (int64_t j = 0; j < count; ++j) sum += scores[j] = std::exp(scores[j] - largest);
  for (int64_t j = 0; j < count; ++j) scores[j] /= sum;
}

/// One query's scores up to its probabilities; `show` gets the chosen stage unless it is null, and `noise`
/// does its part unless it is null.
void finish_row(const AttentionPlan& p, int64_t b, int64_t head, int64_t query, double* scores, int64_t stage,
                double* show, const AttentionNoise* noise) {
  const int64_t number = (b * p.heads + head) * p.queries + query;
  const auto reveal = [&](Stage s) {
    if (show != nullptr && stage == s) std::copy_n(scores, p.keys, show);
  };
  reveal(kProduct);
  for (int64_t j = 0; j < p.keys; ++j) scores[j] = cap(p, scores[j]);
  reveal(kCapped);
  std::vector<double> bias(static_cast<size_t>(p.keys));
  const bool any = p.bias(b, head, query, bias.data());
  for (int64_t j = 0; j < p.keys; ++j) scores[j] += bias[static_cast<size_t>(j)];
  if (noise != nullptr) noise->perturb_biased(number, scores);
  reveal(kBiased);
  if (any) {
    const std::vector<double> before(scores, noise != nullptr ? scores + p.keys : scores);
    softmax(scores, p.keys);
    if (noise != nullptr) noise->perturb_probabilities(number, before, scores);
  } else {
    std::fill_n(scores, p.keys, 0.0);
  }
  reveal(kProbabilities);
}

/// The outputs, with the errors of `noise` unless it is null.
void compute(EvalContext& c, const AttentionPlan& p, const AttentionNoise* noise) {
  const int64_t stage = read_stage(c);
  Tensor y = Tensor::allocate(DType::kFloat64, p.output_shape()), shown;
  if (c.wants_output(3)) shown = Tensor::allocate(DType::kFloat64, {p.batch, p.heads, p.queries, p.keys});
  double* py = y.mutable_data<double>();
  double* show = shown.defined() ? shown.mutable_data<double>() : nullptr;
  for_each_block(p, [&](int64_t b, int64_t head, int64_t first, int64_t rows) {
    std::vector<double> scores = products(p, b, head, first, rows);
    const int64_t number = (b * p.heads + head) * p.queries + first;
    if (noise != nullptr) {
      const kernels::MatrixView q = p.query_rows(b, head, first);
      const Columns keys(p.key_columns(b, head), p.head_size, p.keys);
      for (int64_t i = 0; i < rows; ++i)
        noise->perturb_products(number + i, norm(q.data + i * q.row_stride, p.head_size, q.column_stride),
                                keys.norms, scores.data() + i * p.keys);
    }
    for (int64_t i = 0; i < rows; ++i)
      finish_row(p, b, head, first + i, scores.data() + i * p.keys, stage,
                 show ? show + (number + i) * p.keys : nullptr, noise);
    double* to = py + p.output_offset(b, head, first);
    kernels::gemm(rows, p.value_size, p.keys, {scores.data(), p.keys, 1}, p.values(b, head), to,
                  p.output_stride());
    if (noise == nullptr) return;
    const Columns values(p.values(b, head), p.keys, p.value_size);
    for (int64_t i = 0; i < rows; ++i)
      noise->perturb_output(number + i, norm(scores.data() + i * p.keys, p.keys), values.norms,
                            values.largest, to + i * p.output_stride());
  });
  c.set_output(0, std::move(y));
  c.set_output(1, p.present_key);
  c.set_output(2, p.present_value);
  if (shown.defined()) c.set_output(3, std::move(shown));
}

void eval(EvalContext& c) { compute(c, AttentionPlan(c), nullptr); }

double softmax_roundoff(const OpContext& c, double u) {
  const int64_t precision = c.attr_int("softmax_precision", 0);
  return is_known_dtype(precision) ? std::max(u, unit_roundoff(static_cast<DType>(precision))) : u;
}

void perturb(EvalContext& c, double u, uint64_t key) {
  const AttentionPlan p(c);
  const AttentionNoise noise(p, u, softmax_roundoff(c, u), key);
  compute(c, p, &noise);
}

std::vector<double> absolute(kernels::MatrixView m, int64_t rows, int64_t columns) {
  std::vector<double> out(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < columns; ++k)
      out[static_cast<size_t>(r * columns + k)] = std::fabs(m.data[r * m.row_stride + k * m.column_stride]);
  return out;
}

/// Neither a probability nor what is computed for it is far outside [0, 1].
constexpr double kLargestProbabilityError = 2;

/// Errors along the stages of one query's row.
struct RowErrors {
  const AttentionPlan& plan;
  double u, u_softmax;
  int64_t stage;  ///< the stage that the fourth output shows

  /// `scores` come as products and leave as probabilities, `errors` likewise. `bias` is the plan's for this
  /// query, `any` its result. `show`, unless it is null, gets the errors of the stage.
  void carry(const double* bias, bool any, double* scores, double* errors, double* show) const {
    const int64_t keys = plan.keys;
    const auto reveal = [&](Stage s) {
      if (show != nullptr && stage == s) std::copy_n(errors, keys, show);
    };
    reveal(kProduct);
    for (int64_t j = 0; j < keys; ++j) {
      scores[j] = cap(plan, scores[j]);
      if (plan.softcap > 0) errors[j] += 6 * u * std::fabs(scores[j]);
    }
    reveal(kCapped);
    for (int64_t j = 0; j < keys; ++j) {
      scores[j] += bias[j];
      errors[j] = std::isfinite(scores[j]) ? errors[j] + u * std::fabs(scores[j]) : 0;
    }
    reveal(kBiased);
    to_probabilities(any, scores, errors);
    reveal(kProbabilities);
  }

 private:
  void to_probabilities(bool any, double* scores, double* errors) const {
    const int64_t keys = plan.keys;
    const std::vector<double> before(scores, scores + keys);
    if (!any || keys == 0) {
      std::fill_n(scores, keys, 0.0);
      std::fill_n(errors, keys, 0.0);
      return;
    }
    const double largest = *std::max_element(before.begin(), before.end());
    softmax(scores, keys);
    // Every power may err one way, and their sum the other way.
    double least = 0;
    for (int64_t j = 0; j < keys; ++j)
      least += std::exp(before[static_cast<size_t>(j)] - largest - errors[j]);
    for (int64_t j = 0; j < keys; ++j) {
      const double below = before[static_cast<size_t>(j)] - largest;
      const double raised = below + errors[j], roundings = static_cast<double>(keys) - below + 10;
      if (std::isinf(below)) continue;  // masked: exactly zero
      const double error = std::exp(raised) / least - scores[j] + u_softmax * roundings * scores[j];
      errors[j] = std::fmin(error, kLargestProbabilityError);
    }
  }
};

/// A score errs by u (d + 3) |scale| |Q||K|^T, its cap by 6 u more, its sum with the mask by one rounding; a
/// probability by what its score's error and those of all others make of its power and their sum, and,
/// relatively, u (n + |x - max| + 10) for the softmax itself; Y by the probabilities' errors times |V| and n
/// u P |V|.
Tensor bound(EvalContext& c, double u, size_t i, const Tensor& y) {
  if (i == 1 || i == 2) return {};
  const AttentionPlan p(c);
  const RowErrors row_errors{.plan = p, .u = u, .u_softmax = softmax_roundoff(c, u), .stage = read_stage(c)};
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  double* po = out.mutable_data<double>();
  for_each_block(p, [&](int64_t b, int64_t head, int64_t first, int64_t rows) {
    std::vector<double> scores = products(p, b, head, first, rows), errors(scores.size());
    std::vector<double> bias(static_cast<size_t>(p.keys));
    const std::vector<double> q = absolute(p.query_rows(b, head, first), rows, p.head_size);
    const std::vector<double> k = absolute(p.key_columns(b, head), p.head_size, p.keys);
    kernels::gemm(rows, p.keys, p.head_size, q.data(), p.head_size, k.data(), p.keys, errors.data(), p.keys);
    for (double& e : errors) e *= u * static_cast<double>(p.head_size + 3) * std::fabs(p.scale);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t row = ((b * p.heads + head) * p.queries + first + r) * p.keys;
      double *score = scores.data() + r * p.keys, *error = errors.data() + r * p.keys;
      const bool any = p.bias(b, head, first + r, bias.data());
      row_errors.carry(bias.data(), any, score, error, i == 3 ? po + row : nullptr);
      for (int64_t j = 0; j < p.keys; ++j) error[j] += u * static_cast<double>(p.keys + 1) * score[j];
    }
    if (i == 3) return;
    const std::vector<double> v = absolute(p.values(b, head), p.keys, p.value_size);
    kernels::gemm(rows, p.value_size, p.keys, {errors.data(), p.keys, 1}, {v.data(), p.value_size, 1},
                  po + p.output_offset(b, head, first), p.output_stride());
  });
  return out;
}

constexpr OpVersion kVersions[] = {
    {23, R"(
in  Q: T1
in  K: T1
in  V: T2
in  attn_mask: U ?
in  past_key: T1 ?
in  past_value: T2 ?
out Y: T1
out present_key: T1 ?
out present_value: T2 ?
out qk_matmul_output: T1 ?
attr qk_matmul_output_mode: int = 0
attr softcap: float = 0
attr softmax_precision: int
attr kv_num_heads: int
attr q_num_heads: int
attr scale: float
attr is_causal: int = 0
type T1: @float_ir4
type T2: @float_ir4
type U: @numeric_ir4 bool)",
     infer_attention, eval},
    {24, R"(
in  Q: T1
in  K: T1
in  V: T2
in  attn_mask: U ?
in  past_key: T1 ?
in  past_value: T2 ?
in  nonpad_kv_seqlen: int64 ?
out Y: T1
out present_key: T1 ?
out present_value: T2 ?
out qk_matmul_output: T1 ?
attr qk_matmul_output_mode: int = 0
attr softcap: float = 0
attr softmax_precision: int
attr kv_num_heads: int
attr q_num_heads: int
attr scale: float
attr is_causal: int = 0
type T1: @float_ir4
type T2: @float_ir4
type U: @numeric_ir4 bool)",
     infer_attention, eval},
    {25, R"(
in  Q: T1
in  K: T1
in  V: T2
in  attn_mask: U ?
in  past_key: T1 ?
in  past_value: T2 ?
in  nonpad_kv_seqlen: int64 ?
out Y: T1
out present_key: T1 ?
out present_value: T2 ?
out qk_matmul_output: T1 ?
attr right_window_size: int = -1
attr left_window_size: int = -1
attr qk_matmul_output_mode: int = 0
attr softcap: float = 0
attr softmax_precision: int
attr kv_num_heads: int
attr q_num_heads: int
attr scale: float
attr is_causal: int = 0
type T1: @float_ir4
type T2: @float_ir4
type U: @numeric_ir4 bool)",
     infer_attention, eval},
};

}  // namespace

constinit const OpDef op_onnx_Attention = {
    .domain = "",
    .name = "Attention",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .perturb = perturb},
};

}  // namespace assay
