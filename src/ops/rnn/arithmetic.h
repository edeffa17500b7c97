// The arithmetics that a recurrence is computed in: exact numbers, numbers with a bound of their error, and
// numbers with random errors. All have the same operations; a recurrence is written once, for any of
// them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/gemm.h"
#include "ops/numerics/noise.h"
#include "ops/numerics/rounding.h"
#include "ops/numerics/summation.h"
#include "ops/rnn/activation.h"

namespace assay {

/// Plain float64.
class Exact {
 public:
  using Number = double;

  /// An arithmetic for one of several parts that are computed in parallel.
  Exact part(uint64_t) const { return {}; }
  /// One for work that begins this many positions (at) further on, and moving there.
  Exact ahead(uint64_t) const { return {}; }
  void skip(uint64_t) {}
  /// Sets the position of the following operations: the same at every step.
  void at(uint64_t) {}
  Number given(double x) const { return x; }
  /// A term of a sum whose terms may be added in any order;
  /// `magnitude` is the sum of its parts' magnitudes.
  Number term(Number a, double) const { return a; }
  Number add(Number a, Number b) const { return a + b; }
  Number subtract(Number a, Number b) const { return a - b; }
  Number multiply(Number a, Number b) const { return a * b; }
  /// (1 - z) a + z b, or a + z (b - a).
  Number mix(Number z, Number a, Number b) const { return (1 - z) * a + z * b; }
  Number exponential(Number a) const { return std::exp(a); }
  Number clip(Number a, double limit) const { return std::clamp(a, -limit, limit); }
  Number apply(const Activation& f, Number a) const { return f(a); }
  static double value(Number a) { return a; }

  /// x[rows, k] * w[n, k] transposed: terms of sums.
  std::vector<Number> product(const std::vector<Number>& x, int64_t rows, int64_t k, const double* w,
                              int64_t n) const {
    std::vector<Number> y(static_cast<size_t>(rows * n));
    kernels::gemm(rows, n, k, {x.data(), k, 1}, {w, 1, k}, y.data(), n);
    return y;
  }
  /// The sum of x[i] * s[i * stride] over k elements.
  Number dot(const double* x, const Number* s, int64_t stride, int64_t k) const {
    double sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += x[i] * s[i * stride];
    return sum;
  }
};

/// A value and a bound of the error that an arithmetic of unit roundoff u makes in it, for every order of the
/// additions, to first order in u. It grows with the row sums of the weights at every step, as the worst case
/// does, until the range of an activation function limits it. Infinite where no bound is known.
class Tracked {
 public:
  struct Number {
    double value = 0, error = 0;
    /// The error, with infinity for what overflowed on the way.
    double bound() const { return std::isnan(error) ? HUGE_VAL : error; }
  };
  /// `terms`: additions on the way to a sum of terms.
  Tracked(double u, int64_t terms) : u_(u), sum_u_(u * static_cast<double>(terms)) {}

  Tracked part(uint64_t) const { return *this; }
  Tracked ahead(uint64_t) const { return *this; }
  void skip(uint64_t) {}
  void at(uint64_t) {}
  Number given(double x) const { return {x, 0}; }
  Number term(Number a, double magnitude) const { return {a.value, a.error + sum_u_ * magnitude}; }
  Number add(Number a, Number b) const { return rounded(a.value + b.value, a.error + b.error); }
  Number subtract(Number a, Number b) const { return rounded(a.value - b.value, a.error + b.error); }
  Number multiply(Number a, Number b) const {
    return rounded(a.value * b.value,
                   scaled(std::fabs(a.value) + a.error, b.error) + scaled(std::fabs(b.value), a.error));
  }
  Number mix(Number z, Number a, Number b) const {
    const Number y = add(multiply(subtract(given(1), z), a), multiply(z, b));
    return {y.value, y.error + 3 * u_ * std::fabs(z.value) * (std::fabs(a.value) + std::fabs(b.value))};
  }
  Number exponential(Number a) const {
    const double y = std::exp(a.value);
    return {y, scaled(y, std::expm1(a.error)) + kLibraryUlps * u_ * y};
  }
  Number clip(Number a, double limit) const {
    return {std::clamp(a.value, -limit, limit), std::min(a.error, 2 * limit)};
  }
  Number apply(const Activation& f, Number a) const {
    const double y = f(a.value);
    return {y, f.change(a.value, a.error) + u_ * f.largest_error(y)};
  }
  static double value(const Number& a) { return a.value; }

  std::vector<Number> product(const std::vector<Number>& x, int64_t rows, int64_t k, const double* w,
                              int64_t n) const;
  Number dot(const double* x, const Number* s, int64_t stride, int64_t k) const;

 private:
  Number rounded(double value, double error) const { return {value, error + u_ * std::fabs(value)}; }
  /// Zero times an error without bound is zero.
  static double scaled(double factor, double error) { return factor == 0 || error == 0 ? 0 : factor * error; }

  double u_, sum_u_;
};

/// Plain float64 with a random error in every operation, of the size to expect in an arithmetic of unit
/// roundoff u. A part of it is the same at every step (recurring_noise). With the key of an order of sums
/// (ops/numerics/summation.h) only these have errors.
class Noisy {
 public:
  using Number = double;
  Noisy(double u, uint64_t key) : u_(is_order_key(key) ? 0 : u), key_(key) { at(0); }

  Noisy part(uint64_t i) const { return {u_, is_order_key(key_) ? key_ : mix_key(key_, i)}; }
  Noisy ahead(uint64_t places) const {
    Noisy own(u_, key_);
    own.step_ = step_ + places;
    return own;
  }
  void skip(uint64_t places) { step_ += places; }
  void at(uint64_t place) {
    place_key_ = mix_key(key_, place);
    step_key_ = mix_key(place_key_, step_++);
    operation_ = 0;
  }
  Number given(double x) const { return x; }
  Number term(Number a, double) const { return a; }
  Number add(Number a, Number b) { return rounded(a + b); }
  Number subtract(Number a, Number b) { return rounded(a - b); }
  Number multiply(Number a, Number b) { return rounded(a * b); }
  Number mix(Number z, Number a, Number b) { return add(multiply(subtract(1, z), a), multiply(z, b)); }
  Number exponential(Number a) { return rounded(std::exp(a), 2); }
  Number clip(Number a, double limit) const { return std::clamp(a, -limit, limit); }
  Number apply(const Activation& f, Number a) {
    const double y = f(a), size = f.expected_error(y);
    return size == 0 ? y : y + u_ * size * error();
  }
  static double value(Number a) { return a; }

  std::vector<Number> product(const std::vector<Number>& x, int64_t rows, int64_t k, const double* w,
                              int64_t n);
  Number dot(const double* x, const Number* s, int64_t stride, int64_t k);

 private:
  double error() { return recurring_noise(step_key_, place_key_, operation_++); }
  /// Infinity stays as it is.
  Number rounded(double y, double ulps = 1) { return y * (1 + ulps * u_ * error()); }
  /// Euclidean norms of the n rows of w.
  const std::vector<double>& row_norms(const double* w, int64_t n, int64_t k);

  struct Norms {
    const double* weights;
    std::vector<double> of_rows;
  };
  double u_;
  uint64_t key_, place_key_ = 0, step_key_ = 0, step_ = 0, operation_ = 0;
  std::vector<Norms> norms_;  ///< of the weights that were met so far
};

}  // namespace assay
