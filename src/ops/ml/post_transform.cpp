#include "ops/ml/post_transform.h"

#include <algorithm>
#include <limits>
#include <numbers>

namespace assay {
namespace {

using std::exp;

template <typename N>
double largest(std::span<const N> scores) {
  double most = -std::numeric_limits<double>::infinity();
  for (const N& s : scores) most = std::max(most, value_of(s));
  return most;
}

template <typename N>
void softmax(std::span<N> scores) {
  const double most = largest<N>(scores);
  N sum = 0;
  for (N& s : scores) sum += s = exp(s - N(most));
  for (N& s : scores) s = s / sum;
}

template <typename N>
void softmax_of_nonzero(std::span<N> scores) {
  constexpr double kZero = 1e-7;
  const double most = largest<N>(scores);
  N sum = 0;
  for (N& s : scores) {
    if (std::fabs(value_of(s)) > kZero)
      sum += s = exp(s - N(most));
    else
      s = s * N(std::exp(-most));
  }
  for (N& s : scores) s = s / sum;
}

}  // namespace

PostTransform read_post_transform(const OpContext& c) {
  const std::string& name = c.attr_string("post_transform");
  if (name == "NONE") return PostTransform::kNone;
  if (name == "SOFTMAX") return PostTransform::kSoftmax;
  if (name == "LOGISTIC") return PostTransform::kLogistic;
  if (name == "SOFTMAX_ZERO") return PostTransform::kSoftmaxZero;
  c.check(name == "PROBIT",
          "attribute 'post_transform' is '{}'; it must be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT",
          name);
  return PostTransform::kProbit;
}

PostTransform read_post_transform_number(const OpContext& c) {
  const int64_t number = c.attr_int("post_transform");
  c.check(number >= 0 && number <= 4, "attribute 'post_transform' is {}; it must be 0 to 4", number);
  return static_cast<PostTransform>(number);
}

double logistic(double x) {
  const double e = std::exp(-std::fabs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}
Rounded logistic(const Rounded& x) {
  const double v = logistic(x.value);
  return {v, v * (1 - v) * x.error + sigmoid_error(v)};
}

double probit(double p) {
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (p > 0.5) return -probit(1 - p);
  if (p == 0) return -std::numeric_limits<double>::infinity();
  // Halley's method on Phi(x) = p, relative to p; it converges from the left tail's leading term.
  double x = p < 0.1 ? -std::sqrt(-2 * std::log(p)) : (p - 0.5) * std::sqrt(2 * std::numbers::pi);
  for (int step = 0; step < 12; ++step) {
    const double ratio = 0.5 * std::erfc(-x / std::numbers::sqrt2) / p - 1;
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi) / p;
    const double newton = ratio / density;
    const double next = x - newton / (1 + 0.5 * x * newton);
    if (std::fabs(next - x) <= 1e-16 * std::fabs(next)) return next;
    x = next;
  }
  return x;
}
Rounded probit(const Rounded& p) {
  const double v = probit(p.value);
  // The argument goes through 2 p - 1 on its way.
  return rounded_call(v, std::sqrt(2 * std::numbers::pi) * std::exp(0.5 * v * v), {p.value, p.error + 1});
}

template <typename N>
void apply(PostTransform transform, std::span<N> scores) {
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return softmax(scores);
    case PostTransform::kSoftmaxZero:
      return softmax_of_nonzero(scores);
    case PostTransform::kLogistic:
      for (N& s : scores) s = logistic(s);
      return;
    case PostTransform::kProbit:
      for (N& s : scores) s = probit(s);
      return;
  }
}
template void apply(PostTransform, std::span<double>);
template void apply(PostTransform, std::span<Rounded>);

template <typename N>
std::array<N, 2> two_scores(PostTransform transform, const N& s, bool complement) {
  const bool of_one =
      transform == PostTransform::kProbit || (complement && transform == PostTransform::kNone);
  std::array<N, 2> both = {of_one ? N(1) - s : -s, s};
  apply(transform, std::span<N>(both));
  return both;
}
template std::array<double, 2> two_scores(PostTransform, const double&, bool);
template std::array<Rounded, 2> two_scores(PostTransform, const Rounded&, bool);

}  // namespace assay
