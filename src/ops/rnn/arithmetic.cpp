#include "ops/rnn/arithmetic.h"

#include "base/parallel.h"

namespace assay {
namespace {

/// The least products per thread.
constexpr int64_t kProductGrain = 4096;

/// f of every element.
template <typename T, typename F>
std::vector<double> mapped(const T* x, size_t n, F f) {
  std::vector<double> y(n);
  std::transform(x, x + n, y.begin(), f);
  return y;
}

double norm(const double* x, int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

/// The error to expect of a sum of n terms, without u (docs/internals/numerics.md): the partial sums drift to
/// y and walk at random with steps of the terms' size. None for a sum that is not finite.
double sum_error(double y, double magnitude, double drift) {
  const double error = drift * std::fabs(y) + magnitude;
  return std::isfinite(error) ? error : 0;
}
double sum_drift(int64_t n) { return 1 + std::sqrt(static_cast<double>(n) / 3); }

}  // namespace

std::vector<Tracked::Number> Tracked::product(const std::vector<Number>& x, int64_t rows, int64_t k,
                                              const double* w, int64_t n) const {
  const auto multiplied = [&](const std::vector<double>& a, const double* b) {
    std::vector<double> y(static_cast<size_t>(rows * n));
    kernels::gemm(rows, n, k, {a.data(), k, 1}, {b, 1, k}, y.data(), n);
    return y;
  };
  const std::vector<double> magnitudes =
      mapped(w, static_cast<size_t>(n * k), [](double v) { return std::fabs(v); });
  const std::vector<double> values =
      multiplied(mapped(x.data(), x.size(), [](Number v) { return v.value; }), w);
  const std::vector<double> errors =
      multiplied(mapped(x.data(), x.size(),
                        [this](Number v) { return v.error + sum_u_ * (std::fabs(v.value) + v.error); }),
                 magnitudes.data());
  std::vector<Number> y(values.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = {values[i], std::isnan(errors[i]) ? HUGE_VAL : errors[i]};
  return y;
}

Tracked::Number Tracked::dot(const double* x, const Number* s, int64_t stride, int64_t k) const {
  double sum = 0, error = 0;
  for (int64_t i = 0; i < k; ++i) {
    const Number& v = s[i * stride];
    sum += x[i] * v.value;
    error += scaled(std::fabs(x[i]), v.error + sum_u_ * (std::fabs(v.value) + v.error));
  }
  return {sum, error};
}

const std::vector<double>& Noisy::row_norms(const double* w, int64_t n, int64_t k) {
  for (const Norms& known : norms_)
    if (known.weights == w) return known.of_rows;
  Norms& added = norms_.emplace_back(Norms{w, std::vector<double>(static_cast<size_t>(n))});
  for (int64_t j = 0; j < n; ++j) added.of_rows[static_cast<size_t>(j)] = norm(w + j * k, k);
  return added.of_rows;
}

/// The sum of the terms' magnitudes is at most the product of the norms, which needs no second product.
std::vector<double> Noisy::product(const std::vector<double>& x, int64_t rows, int64_t k, const double* w,
                                   int64_t n) {
  std::vector<double> y = Exact().product(x, rows, k, w, n);
  if (is_order_key(key_)) {
    for (int64_t i = 0; i < rows * n; ++i) {
      const double *row = x.data() + i / n * k, *column = w + i % n * k;
      y[static_cast<size_t>(i)] = sum_in_order(key_, k, [=](int64_t j) { return row[j] * column[j]; });
    }
    return y;
  }
  const std::vector<double>& norms = row_norms(w, n, k);
  const double drift = sum_drift(k);
  parallel_for(rows, std::max<int64_t>(1, kProductGrain / std::max<int64_t>(n, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t row = first; row < last; ++row) {
                   const double length = norm(x.data() + row * k, k);
                   const uint64_t key = mix_key(step_key_, static_cast<uint64_t>(row));
                   double* to = y.data() + row * n;
                   for (int64_t j = 0; j < n; ++j)
                     to[j] += u_ * sum_error(to[j], length * norms[static_cast<size_t>(j)], drift) *
                              recurring_noise(key, place_key_, static_cast<uint64_t>(j));
                 }
               });
  return y;
}

double Noisy::dot(const double* x, const double* s, int64_t stride, int64_t k) {
  if (is_order_key(key_)) return sum_in_order(key_, k, [=](int64_t i) { return x[i] * s[i * stride]; });
  double sum = 0, magnitude = 0;
  for (int64_t i = 0; i < k; ++i) {
    const double v = x[i] * s[i * stride];
    sum += v;
    magnitude += std::fabs(v);
  }
  return sum + u_ * sum_error(sum, magnitude, sum_drift(k)) * error();
}

}  // namespace assay
