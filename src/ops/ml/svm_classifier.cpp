// SVMClassifier, as libsvm does it: a machine for each pair of classes votes for one of the two, and most
// votes win. Z has the machines' scores; with prob_a and prob_b each class's probability, by coupling the
// pairs' (Wu, Lin, Weng 2004). The one score of two classes becomes two, as two_scores() says.
//
// Without support vectors, Z has a linear score for each class, and the largest wins.
#include <cmath>

#include "ops/ml/post_transform.h"
#include "ops/ml/scored_op.h"
#include "ops/ml/svm.h"
#include "ops/op_list.h"

namespace assay::op_ml_SVMClassifier {
namespace {

/// A classifier's attributes.
class Machines {
 public:
  explicit Machines(const OpContext& c);

  int64_t class_count() const { return static_cast<int64_t>(labels.size()); }
  int64_t pairs() const { return class_count() * (class_count() - 1) / 2; }
  bool has_probabilities() const { return vectors && !prob_a_.empty(); }
  /// Columns of output Z.
  int64_t width() const {
    return !vectors || has_probabilities() || class_count() == 2 ? class_count() : pairs();
  }
  const ClassLabels* classes() const { return &labels; }
  void take_features(const OpContext& c, int64_t count) const {
    c.check(count == features(), "the input has {} features, the machines {}", count, features());
  }
  int64_t cost() const { return (vectors ? vectors->count : class_count()) * features(); }
  template <typename N>
  size_t score(const double* x, std::span<N> z) const;

  ClassLabels labels;
  std::optional<SupportVectors> vectors;

 private:
  int64_t features() const { return vectors ? vectors->features : linear_features_; }
  template <typename N>
  N linear_score(int64_t k, const double* x) const {
    const double* row = coefficients_.data() + k * linear_features_;
    return SvmKernel::linear().template operator()<N>(x, row, linear_features_) + N(rho_[0]);
  }
  /// The scores of all pairs; `winner` gets the class with most votes.
  template <typename N>
  std::vector<N> pair_scores(const double* x, size_t& winner) const;
  /// Part of a pair's score: class k's support vectors with row `row` of the coefficients.
  template <typename N>
  N partial_score(const std::vector<N>& kernels, int64_t k, int64_t row) const;
  template <typename N>
  void probabilities(const std::vector<N>& scores, std::span<N> z) const;

  PostTransform transform_;
  std::vector<double> coefficients_, rho_, prob_a_, prob_b_;
  std::vector<int64_t> first_;  ///< support vector of each class; one more at the end
  int64_t linear_features_ = 0;
};

Machines::Machines(const OpContext& c)
    : labels(c, "classlabels_ints", "classlabels_strings"),
      transform_(read_post_transform(c)),
      coefficients_(c.attr_floats("coefficients")),
      rho_(c.attr_floats("rho")),
      prob_a_(c.attr_floats("prob_a")),
      prob_b_(c.attr_floats("prob_b")),
      first_{0} {
  c.check(labels.size() >= 2 && labels.size() < 65536, "the classifier has {} labels; it needs 2 to 65535",
          labels.size());
  for (const int64_t n : c.attr_ints("vectors_per_class")) {
    c.check(n >= 0 && n < (int64_t{1} << 40), "attribute 'vectors_per_class' has the entry {}", n);
    first_.push_back(first_.back() + n);
  }
  const auto size = static_cast<int64_t>(coefficients_.size());
  if (first_.back() == 0) {
    c.check(!rho_.empty(), "attribute 'rho' must have a number");
    c.check(size > 0 && size % class_count() == 0, "{} coefficients cannot be divided among {} classes", size,
            class_count());
    linear_features_ = size / class_count();
    return;
  }
  c.check(first_.size() == labels.size() + 1, "vectors_per_class has {} entries for {} classes",
          first_.size() - 1, labels.size());
  vectors.emplace(c, first_.back());
  c.check(size == (class_count() - 1) * vectors->count,
          "{} coefficients; {} classes and {} support vectors need {}", size, class_count(), vectors->count,
          (class_count() - 1) * vectors->count);
  c.check(static_cast<int64_t>(rho_.size()) == pairs(),
          "attribute 'rho' has {} numbers for {} pairs of classes", rho_.size(), pairs());
  c.check(prob_a_.size() == prob_b_.size() &&
              (prob_a_.empty() || static_cast<int64_t>(prob_a_.size()) == pairs()),
          "the attributes 'prob_a' and 'prob_b' have {} and {} numbers for {} pairs of classes",
          prob_a_.size(), prob_b_.size(), pairs());
}

template <typename N>
N Machines::partial_score(const std::vector<N>& kernels, int64_t k, int64_t row) const {
  N sum = 0;
  for (int64_t v = first_[static_cast<size_t>(k)]; v < first_[static_cast<size_t>(k) + 1]; ++v)
    sum += N(coefficients_[static_cast<size_t>(row * vectors->count + v)]) * kernels[static_cast<size_t>(v)];
  return sum;
}

template <typename N>
std::vector<N> Machines::pair_scores(const double* x, size_t& winner) const {
  std::vector<N> kernels, scores;
  for (int64_t v = 0; v < vectors->count; ++v)
    kernels.push_back(vectors->kernel.template operator()<N>(x, vectors->row(v), vectors->features));
  std::vector<double> votes(labels.size());
  for (int64_t i = 0; i < class_count(); ++i)
    for (int64_t j = i + 1; j < class_count(); ++j) {
      scores.push_back(partial_score(kernels, i, j - 1) + partial_score(kernels, j, i) +
                       N(rho_[scores.size()]));
      ++votes[static_cast<size_t>(value_of(scores.back()) > 0 ? i : j)];
    }
  winner = best_class<double>(votes);
  return scores;
}

/// Turns pairwise probabilities r[i * n + j] of class i against j into one for each class: the minimizer of
/// sum (r_ji p_i - r_ij p_j)^2, by libsvm's iteration and stopping rule.
template <typename N>
void couple(const std::vector<N>& r, std::span<N> p) {
  const size_t n = p.size();
  std::vector<N> q(n * n), qp(n);
  for (size_t i = 0; i < n; ++i) {
    p[i] = N(1) / N(static_cast<double>(n));
    for (size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      q[i * n + i] += r[j * n + i] * r[j * n + i];
      q[i * n + j] = -(r[j * n + i] * r[i * n + j]);
    }
  }
  const double enough = 0.005 / static_cast<double>(n);
  for (int round = 0; round < 100; ++round) {
    N total = 0;
    for (size_t i = 0; i < n; ++i) {
      qp[i] = 0;
      for (size_t j = 0; j < n; ++j) qp[i] += q[i * n + j] * p[j];
      total += p[i] * qp[i];
    }
    double worst = 0;
    for (const N& v : qp) worst = std::max(worst, std::fabs(value_of(v) - value_of(total)));
    if (worst < enough) return;
    for (size_t i = 0; i < n; ++i) {
      const N step = (total - qp[i]) / q[i * n + i], scale = N(1) + step;
      p[i] += step;
      total = (total + step * (step * q[i * n + i] + N(2) * qp[i])) / scale / scale;
      for (size_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + step * q[i * n + j]) / scale;
        p[j] = p[j] / scale;
      }
    }
  }
}

template <typename N>
void Machines::probabilities(const std::vector<N>& scores, std::span<N> z) const {
  constexpr double kMin = 1e-7;
  const size_t n = z.size();
  std::vector<N> r(n * n);
  size_t at = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j, ++at) {
      const N p = logistic(-(scores[at] * N(prob_a_[at]) + N(prob_b_[at])));
      r[i * n + j] = value_of(p) < kMin ? N(kMin) : value_of(p) > 1 - kMin ? N(1 - kMin) : p;
      r[j * n + i] = N(1) - r[i * n + j];
    }
  couple(r, z);
}

template <typename N>
size_t Machines::score(const double* x, std::span<N> z) const {
  if (!vectors) {
    for (int64_t k = 0; k < class_count(); ++k) z[static_cast<size_t>(k)] = linear_score<N>(k, x);
    const size_t best = best_class<N>(z);
    apply(transform_, z);
    return best;
  }
  size_t winner = 0;
  const std::vector<N> scores = pair_scores<N>(x, winner);
  if (scores.size() == 1 && !has_probabilities()) {
    std::ranges::copy(two_scores(transform_, scores[0], false), z.begin());
    return winner;
  }
  if (has_probabilities())
    probabilities(scores, z);
  else
    std::ranges::copy(scores, z.begin());
  apply(transform_, z);
  return winner;
}

void infer(InferContext& c) {
  const Machines machines(c);
  infer_classifier(c, machines.labels, Dim(machines.width()));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
out Y: T2
out Z: float
attr classlabels_ints: ints
attr rho: floats
attr prob_b: floats
attr coefficients: floats
attr classlabels_strings: strings
attr prob_a: floats
attr support_vectors: floats
attr vectors_per_class: ints
attr post_transform: string = "NONE"
attr kernel_params: floats
attr kernel_type: string = "LINEAR"
type T1: float double int64 int32
type T2: string int64)",
     infer, eval_scores<Machines>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "SVMClassifier",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_scores<Machines>},
    .scorer = make_model_scorer<Machines>,
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
        },
};

}  // namespace assay::op_ml_SVMClassifier
