// The two arithmetics that a recurrence is computed in: exact numbers, and numbers that carry a bound of
// their error.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/gemm.h"
#include "ops/rnn/activation.h"

namespace assay {

/// Plain float64.
class Exact {
 public:
  using Number = double;

  Number given(double x) const { return x; }
  Number add(Number a, Number b) const { return a + b; }
  Number multiply(Number a, Number b) const { return a * b; }
  Number one_minus(Number a) const { return 1 - a; }
  Number clip(Number a, double limit) const { return std::clamp(a, -limit, limit); }
  Number apply(const Activation& f, Number a) const { return f(a); }
  static double value(Number a) { return a; }

  /// x[rows, k] * w[n, k] transposed.
  std::vector<Number> product(const std::vector<Number>& x, int64_t rows, int64_t k, const double* w,
                              int64_t n) const {
    std::vector<Number> y(static_cast<size_t>(rows * n));
    kernels::gemm(rows, n, k, {x.data(), k, 1}, {w, 1, k}, y.data(), n);
    return y;
  }
};

/// A value and a bound of the error that an arithmetic of unit roundoff u makes in it. Within a step errors
/// add up as in the worst case. Where a product passes on the errors of the hidden state they are taken as
/// independent, and add up as the root of their squares: the worst case would grow by the row sums of |R|
/// every step and soon say nothing.
class Tracked {
 public:
  struct Number {
    double value = 0, error = 0;
  };
  explicit Tracked(double u) : u_(u) {}

  Number given(double x) const { return {x, 0}; }
  Number add(Number a, Number b) const { return rounded(a.value + b.value, a.error + b.error); }
  Number multiply(Number a, Number b) const {
    return rounded(a.value * b.value, std::fabs(a.value) * b.error + std::fabs(b.value) * a.error);
  }
  Number one_minus(Number a) const { return rounded(1 - a.value, a.error); }
  Number clip(Number a, double limit) const { return {std::clamp(a.value, -limit, limit), a.error}; }
  /// The argument's error times the slope, and 4 u for the function itself: implementations of sigmoid and
  /// tanh are accurate to a few units of their range.
  Number apply(const Activation& f, Number a) const {
    const double y = f(a.value);
    return {y, f.slope(a.value) * a.error + 4 * u_ * std::max(1.0, std::fabs(y))};
  }
  static double value(const Number& a) { return a.value; }

  std::vector<Number> product(const std::vector<Number>& x, int64_t rows, int64_t k, const double* w,
                              int64_t n) const {
    const auto run = [&](auto of_x, auto of_w) {
      std::vector<double> a(x.size()), b(static_cast<size_t>(n * k)), y(static_cast<size_t>(rows * n));
      std::transform(x.begin(), x.end(), a.begin(), of_x);
      std::transform(w, w + n * k, b.begin(), of_w);
      kernels::gemm(rows, n, k, {a.data(), k, 1}, {b.data(), 1, k}, y.data(), n);
      return y;
    };
    const std::vector<double> values = run([](Number v) { return v.value; }, [](double v) { return v; });
    const std::vector<double> magnitudes =
        run([](Number v) { return std::fabs(v.value); }, [](double v) { return std::fabs(v); });
    const std::vector<double> passed =
        run([](Number v) { return v.error * v.error; }, [](double v) { return v * v; });
    std::vector<Number> y(values.size());
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = {values[i], static_cast<double>(k) * u_ * magnitudes[i] + std::sqrt(passed[i])};
    return y;
  }

 private:
  Number rounded(double value, double error) const { return {value, error + u_ * std::fabs(value)}; }

  double u_;
};

}  // namespace assay
