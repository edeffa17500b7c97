#include "ops/nn/class_loss.h"

#include <cmath>

#include "ops/nn/softmax_rows.h"
#include "ops/numerics/rounding.h"
#include "ops/sums/sums.h"

namespace assay {
namespace {

enum class LossReduction : uint8_t { kNone, kSum, kMean };

LossReduction read_reduction(const OpContext& c) {
  const std::string& name = c.attr_string("reduction");
  if (name == "none") return LossReduction::kNone;
  if (name == "sum") return LossReduction::kSum;
  c.check(name == "mean", "reduction '{}' is none of none, sum, mean", name);
  return LossReduction::kMean;
}

/// One sample: which log-probability counts, and with what weight (0: ignored).
struct Pick {
  int64_t index;
  double weight;
};

std::vector<Pick> picks(const EvalContext& c) {
  const Shape &in = c.shape(0), &target = c.shape(1);
  c.check(in.size() >= 2, "the scores have shape {}; they need batch and classes", in.str());
  Shape wanted = in;
  wanted.erase_at(1);
  c.check(target == wanted, "the targets have shape {} where {} is needed", target.str(), wanted.str());
  const bool weighted = c.has_input(2);
  if (weighted)
    c.check(c.shape(2) == Shape{in[1]}, "the weights have shape {} for {} classes", c.shape(2).str(), in[1]);
  const bool ignores = c.has_attr("ignore_index");
  const int64_t ignored = ignores ? c.attr_int("ignore_index") : 0;
  const int64_t classes = in[1], inner = in.numel(2, in.size());
  std::vector<Pick> out;
  const std::vector<int64_t> targets = c.input(1).to_int64();
  for (size_t i = 0; i < targets.size(); ++i) {
    const auto sample = static_cast<int64_t>(i);
    if (ignores && targets[i] == ignored) {
      out.push_back({sample / inner * classes * inner + sample % inner, 0});
      continue;
    }
    c.check(targets[i] >= 0 && targets[i] < classes, "target {} is outside the {} classes", targets[i],
            classes);
    out.push_back({(sample / inner * classes + targets[i]) * inner + sample % inner,
                   weighted ? c.input(2).data<double>()[targets[i]] : 1.0});
  }
  return out;
}

}  // namespace

void infer_class_loss(InferContext& c) {
  const Dims *in = c.input_dims(0), *target = c.input_dims(1);
  c.check(in == nullptr || in->size() >= 2, "the scores have {} dimensions; they need batch and classes",
          in ? in->size() : 0);
  c.check(in == nullptr || target == nullptr || target->size() + 1 == in->size(),
          "targets of {} dimensions do not go with scores of {}", target ? target->size() : 0,
          in ? in->size() : 0);
  if (read_reduction(c) != LossReduction::kNone) return c.set_output(0, c.input_dtype(0), Dims());
  if (target != nullptr) return c.set_output(0, c.input_dtype(0), *target);
  c.set_output(0, c.input_dtype(0));
}

Tensor class_loss(const EvalContext& c, const Tensor& log_probabilities) {
  const LossReduction reduction = read_reduction(c);
  const double* p = log_probabilities.data<double>();
  Tensor each = Tensor::allocate(DType::kFloat64, c.shape(1));
  double* out = each.mutable_data<double>();
  double sum = 0, weights = 0;
  for (const Pick& pick : picks(c)) {
    *out = pick.weight == 0 ? 0.0 : -p[pick.index] * pick.weight;
    sum += *out++;
    weights += pick.weight;
  }
  if (reduction == LossReduction::kNone) return each;
  return Tensor::scalar<double>(reduction == LossReduction::kSum ? sum : sum / weights);
}

Tensor class_loss_errors(const EvalContext& c, const Tensor& log_probabilities, const Tensor& errors,
                         double u, LossErrors kind) {
  const bool independent = kind == LossErrors::kIndependent;
  const LossReduction reduction = read_reduction(c);
  const double *p = log_probabilities.data<double>(), *e = errors.data<double>();
  Tensor each = Tensor::allocate(DType::kFloat64, c.shape(1));
  double* out = each.mutable_data<double>();
  double sum = 0, magnitude = 0, weights = 0;
  for (const Pick& pick : picks(c)) {
    const double loss = std::fabs(p[pick.index] * pick.weight);
    *out = pick.weight == 0 ? 0.0 : std::fabs(pick.weight) * e[pick.index] + u * loss;
    sum += independent ? *out * *out : *out;
    ++out;
    magnitude += pick.weight == 0 ? 0.0 : loss;
    weights += std::fabs(pick.weight);
  }
  if (reduction == LossReduction::kNone) return each;
  const auto terms = static_cast<double>(each.numel());
  const double count = (independent ? expected_additions(terms) : terms) + 2;
  const double total = (independent ? std::sqrt(sum) : sum) + count * u * magnitude;
  return Tensor::scalar<double>(reduction == LossReduction::kSum ? total
                                                                 : (total + count * u * magnitude) / weights);
}

namespace {

/// Of more samples only the sum of their losses is explained, not each loss.
constexpr size_t kSamplesWithSums = 2048;

/// The powers of the scores whose first one has this position, and the number subtracted from each.
struct Powers {
  Addends sum;
  double shift, log;
};
Powers powers_at(const EvalContext& c, const Slices& s, int64_t first) {
  const double* x = c.input(0).data<double>() + first;
  Powers p{.sum = {}, .shift = largest(x, s), .log = 0};
  double total = 0;
  for (int64_t k = 0; k < s.count; ++k) {
    p.sum.terms.push_back(std::exp(x[k * s.inner] - p.shift));
    total += p.sum.terms.back();
  }
  p.log = std::log(total);
  return p;
}

/// factor * the log-softmax of the scores at this position.
void set_log_softmax(const EvalContext& c, const Slices& s, int64_t place, double factor,
                     SummedElement& out) {
  const int64_t first = place / (s.count * s.inner) * s.count * s.inner + place % s.inner;
  Powers p = powers_at(c, s, first);
  const double own = c.input(0).data<double>()[place] - p.shift;
  out.sums.push_back(std::move(p.sum));
  out.result = [=](std::span<const double> sums) { return factor * (own - std::log(sums[0])); };
}

}  // namespace

bool sums_of_class_loss(EvalContext& c, int64_t i, SummedElement& out) {
  const Shape& in = c.shape(0);
  const Slices slices{in[0], in[1], in.numel(2, in.size())};
  const bool is_of_scores = c.op().name == "SoftmaxCrossEntropyLoss";
  if (out.output == 1) return set_log_softmax(c, slices, i, 1, out), true;
  const LossReduction reduction = read_reduction(c);
  if (reduction == LossReduction::kNone && !is_of_scores) return false;
  std::shared_ptr<const void> here;
  std::shared_ptr<const void>& kept = out.kept == nullptr ? here : *out.kept;
  if (kept == nullptr) kept = std::make_shared<const std::vector<Pick>>(picks(c));
  const auto& all = *static_cast<const std::vector<Pick>*>(kept.get());
  if (reduction == LossReduction::kNone) {
    const Pick& pick = all[static_cast<size_t>(i)];
    return set_log_softmax(c, slices, pick.index, -pick.weight, out), true;
  }
  Addends losses;
  std::vector<double> counts, logs;  // of the samples whose own sums are explained
  double weights = 0;
  for (const Pick& pick : all) {
    double log_probability = c.input(0).data<double>()[pick.index];
    if (is_of_scores) {
      const int64_t slice = slices.count * slices.inner;
      Powers p = powers_at(c, slices, pick.index / slice * slice + pick.index % slices.inner);
      log_probability -= p.shift + p.log;
      if (all.size() <= kSamplesWithSums) {
        out.sums.push_back(std::move(p.sum));
        counts.push_back(pick.weight), logs.push_back(p.log);
      }
    }
    losses.terms.push_back(pick.weight == 0 ? 0 : -log_probability * pick.weight);
    weights += pick.weight;
  }
  out.sums.push_back(std::move(losses));
  const double divisor = reduction == LossReduction::kSum ? 1 : weights;
  out.result = [=](std::span<const double> sums) {
    double total = sums.back();
    for (size_t k = 0; k < logs.size(); ++k) total += counts[k] * (std::log(sums[k]) - logs[k]);
    return total / divisor;
  };
  return true;
}

}  // namespace assay
