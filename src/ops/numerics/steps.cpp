#include "ops/numerics/steps.h"

#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/nn/matrix_product.h"
#include "ops/nn/normalize.h"
#include "ops/numerics/noise.h"
#include "ops/numerics/rounding.h"
#include "ops/numerics/summation.h"

namespace assay {
namespace {

Tensor absolute(const Tensor& t) {
  return map_elements<double>(t, [](double x) { return std::fabs(x); });
}

Tensor sum(const Tensor& a, const Tensor& b) {
  return map_broadcast<double>(a, b, [](double x, double y) { return x + y; });
}

/// Zero times an error without bound is zero.
Tensor scaled_errors(const Tensor& factor, const Tensor& error) {
  return map_broadcast<double>(factor, error,
                               [](double f, double e) { return f == 0 || e == 0 ? 0.0 : std::fabs(f) * e; });
}

}  // namespace

namespace {

/// The matrix product with its sums in float32, in the order of a key.
Tensor product_in_order(uint64_t key, const Tensor& a, const Tensor& b) {
  Tensor y = matrix_product(a, b);
  Shape left = a.shape(), right = b.shape();
  if (left.size() == 1) left.insert_at(0, 1);
  if (right.size() == 1) right.push_back(1);
  const int64_t k = left.back(), n = right.back(), m = left[left.size() - 2];
  const Shape la(left.begin(), left.end() - 2), lb(right.begin(), right.end() - 2),
      batches = broadcast(la, lb);
  const std::vector<int64_t> sa = broadcast_strides(la, batches), sb = broadcast_strides(lb, batches);
  const double *pa = a.data<double>(), *pb = b.data<double>();
  auto* py = y.mutable_data<double>();
  parallel_for(batches.numel(), 1, [&](int64_t first, int64_t last) {
    OffsetCursor at(batches.dims(), sa), bt(batches.dims(), sb);
    at.seek(first), bt.seek(first);
    for (int64_t batch = first; batch < last; ++batch, at.next(), bt.next())
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          const double *row = pa + (at.offset() * m + i) * k, *column = pb + bt.offset() * k * n + j;
          py[(batch * m + i) * n + j] =
              sum_in_order(key, k, [=](int64_t l) { return row[l] * column[l * n]; });
        }
  });
  return y;
}

/// The moments of a row whose sums float32 makes.
Moments moments_in_order(uint64_t key, const double* x, int64_t n) {
  const auto count = static_cast<double>(n);
  Moments m = moments(x, n);
  m.mean = sum_in_order(key, n, [=](int64_t i) { return x[i]; }) / count;
  m.variance = sum_in_order(key, n, [=](int64_t i) { return (x[i] - m.mean) * (x[i] - m.mean); }) / count;
  return m;
}

}  // namespace

Traced Steps::given(const Tensor& t) const {
  return {t, bounds() ? Tensor::zeros(DType::kFloat64, t.shape()) : Tensor()};
}

Steps Steps::part(uint64_t i) const {
  Steps out = *this;
  if (is_order_key(key_)) return out;
  out.key_ = mix_key(mix_key(key_, count_), i);
  out.count_ = 0;
  return out;
}

Steps Steps::rounding_to(double u) const {
  Steps out = part(0);
  out.u_ = u;
  return out;
}

template <typename Most, typename Usual, typename Carried>
Traced Steps::step(Tensor y, Most most, Usual usual, Carried carried) {
  const uint64_t key = mix_key(key_, count_++);
  if (mode_ == Mode::kValues || is_order_key(key_)) return {std::move(y), {}};
  const bool noisy = noise();
  Tensor error = noisy ? Tensor() : carried();
  const int64_t n = y.numel();
  double* py = noisy ? y.mutable_data<double>() : nullptr;
  const double* exact = noisy ? nullptr : y.data<double>();
  double* pe = noisy ? nullptr : error.mutable_data<double>();
  parallel_for(n, kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      if (noisy) {
        const double e = u_ * usual(i, py[i]) * assay::noise(key, static_cast<uint64_t>(i));
        if (std::isfinite(e)) py[i] += e;
      } else {
        pe[i] = std::isfinite(exact[i]) ? pe[i] + u_ * most(i, exact[i]) : 0;
      }
    }
  });
  return {std::move(y), std::move(error)};
}

Traced Steps::inexact(const Tensor& t, const Tensor& size) {
  const double* p = size.data<double>();
  const auto own = [p](int64_t i, double) { return p[i]; };
  return step(t, own, own, [&] { return Tensor::zeros(DType::kFloat64, t.shape()); });
}

Traced Steps::add(const Traced& a, const Traced& b) {
  const auto own = [](int64_t, double y) { return std::fabs(y); };
  return step(sum(a.value, b.value), own, own, [&] { return sum(a.error, b.error); });
}

Traced Steps::multiply(const Traced& a, const Traced& b) {
  const auto own = [](int64_t, double y) { return std::fabs(y); };
  return step(map_broadcast<double>(a.value, b.value, [](double x, double y) { return x * y; }), own, own,
              [&] { return sum(scaled_errors(a.value, b.error), scaled_errors(b.value, a.error)); });
}

Traced Steps::scale(const Traced& a, double factor) {
  if (factor == 1) return a;
  const auto own = [](int64_t, double y) { return 2 * std::fabs(y); };
  return step(map_elements<double>(a.value, [=](double x) { return x * factor; }), own, own,
              [&] { return scaled_errors(Tensor::scalar(factor), a.error); });
}

Traced Steps::product(const Traced& a, const Traced& b) {
  if (is_order_key(key_)) return {product_in_order(key_, a.value, b.value), {}};
  Tensor y = matrix_product(a.value, b.value);
  const auto k = static_cast<double>(a.value.shape().back());
  const Tensor size =
      mode_ == Mode::kValues ? Tensor() : matrix_product(absolute(a.value), absolute(b.value));
  const double* p = size.defined() ? size.data<double>() : nullptr;
  const double drift = 1 + expected_additions(k);
  return step(
      std::move(y), [=](int64_t i, double) { return (k + 1) * p[i]; },
      [=](int64_t i, double v) { return std::min(drift * std::fabs(v) + p[i], (k + 1) * p[i]); },
      [&] {
        return sum(matrix_product(a.error, absolute(b.value)), matrix_product(absolute(a.value), b.error));
      });
}

Traced Steps::accumulated(Tensor y, const std::function<Tensor()>& magnitudes, double terms,
                          const std::function<Tensor()>& carried) {
  const Tensor size = mode_ == Mode::kValues ? Tensor() : magnitudes();
  const double* p = size.defined() ? size.data<double>() : nullptr;
  const double drift = 1 + expected_additions(terms);
  const Shape shape = y.shape();
  return step(
      std::move(y), [=](int64_t i, double) { return (terms + 1) * std::fabs(p[i]); },
      [=](int64_t i, double v) {
        const double m = std::fabs(p[i]);
        return std::min(drift * std::fabs(v) + m, (terms + 1) * m);
      },
      [&] { return carried ? carried() : Tensor::zeros(DType::kFloat64, shape); });
}

Traced Steps::map(const Traced& a, const std::function<double(double)>& f, double slope,
                  const std::function<double(double, double)>& own) {
  const double* x = a.value.data<double>();
  const auto error = [&, x](int64_t i, double y) { return own(x[i], y); };
  return step(map_elements<double>(a.value, [&](double v) { return f(v); }), error, error,
              [&] { return scaled_errors(Tensor::scalar(slope), a.error); });
}

namespace {

/// The errors of normalized elements that follow from those of the row's elements: mean and deviation carry
/// them to all elements.
void carry_row(const double* x, const double* error, int64_t n, double mean, double inverse, bool centred,
               double* out) {
  double average = 0, weighted = 0;
  for (int64_t i = 0; i < n; ++i) {
    average += error[i] / static_cast<double>(n);
    weighted += std::fabs(x[i] - mean) * error[i] / static_cast<double>(n);
  }
  for (int64_t i = 0; i < n; ++i)
    out[i] = inverse *
             (error[i] + (centred ? average : 0) + std::fabs(x[i] - mean) * inverse * inverse * weighted);
}

Moments root_mean_square(uint64_t key, const double* x, int64_t n) {
  Moments m;
  if (is_order_key(key))
    m.variance = sum_in_order(key, n, [=](int64_t i) { return x[i] * x[i]; });
  else
    for (int64_t i = 0; i < n; ++i) m.variance += x[i] * x[i];
  m.variance /= static_cast<double>(n);
  return m;
}

}  // namespace

Traced Steps::normalize(const Traced& x, int64_t count, double epsilon, bool centred, Traced* mean,
                        Traced* inverse) {
  const Shape& shape = x.value.shape();
  const int64_t rows = count == 0 ? 0 : x.value.numel() / count;
  Tensor y = Tensor::allocate(DType::kFloat64, shape), most, drifts, carried;
  Tensor means = Tensor::allocate(DType::kFloat64, {rows}),
         inverses = Tensor::allocate(DType::kFloat64, {rows});
  if (mode_ != Mode::kValues) {
    most = Tensor::allocate(DType::kFloat64, shape);
    drifts = Tensor::allocate(DType::kFloat64, shape);
  }
  if (bounds()) carried = Tensor::allocate(DType::kFloat64, shape);
  const double* px = x.value.data<double>();
  double *py = y.mutable_data<double>(), *pm = means.mutable_data<double>(),
         *pi = inverses.mutable_data<double>();
  double* size = most.defined() ? most.mutable_data<double>() : nullptr;
  double* drift = drifts.defined() ? drifts.mutable_data<double>() : nullptr;
  double* pc = carried.defined() ? carried.mutable_data<double>() : nullptr;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * count;
    const Moments m = !centred             ? root_mean_square(key_, px + at, count)
                      : is_order_key(key_) ? moments_in_order(key_, px + at, count)
                                           : moments(px + at, count);
    pm[r] = m.mean;
    pi[r] = inverse_deviation(m, epsilon);
    for (int64_t i = at; i < at + count; ++i) {
      py[i] = (px[i] - m.mean) * pi[r];
      if (size == nullptr) continue;
      size[i] = centred ? normalized_magnitude(px[i], m, pi[r]) : std::fabs(py[i]);
      drift[i] = centred ? normalized_drift(px[i], m, pi[r]) : std::fabs(py[i]) / 2;
    }
    if (pc != nullptr)
      carry_row(px + at, x.error.data<double>() + at, count, m.mean, pi[r], centred, pc + at);
  }
  const auto n = static_cast<double>(count);
  const double additions = expected_additions(n);
  Traced out = step(
      std::move(y), [=](int64_t i, double) { return (n + 10) * size[i]; },
      [=](int64_t i, double v) {
        return std::min(4 * std::fabs(v) + additions * std::fabs(drift[i]) + size[i], (n + 10) * size[i]);
      },
      [&] { return carried; });
  // By-products: their bounds are those of a whole row of magnitudes.
  const auto by_product = [&](const Tensor& t) {
    const auto own = [=](int64_t, double v) { return (n + 4) * std::fabs(v); };
    return step(
        t, own, [=](int64_t, double v) { return (2 + additions) * std::fabs(v); },
        [&] { return Tensor::zeros(DType::kFloat64, t.shape()); });
  };
  if (mean != nullptr) *mean = by_product(means);
  if (inverse != nullptr) *inverse = by_product(inverses);
  return out;
}

namespace {

/// One row of scores becomes probabilities; returns the largest score.
double softmax_row(uint64_t key, double* p, int64_t n, double sink) {
  double largest = sink;
  for (int64_t j = 0; j < n; ++j)
    if (p[j] > largest || std::isnan(p[j])) largest = p[j];
  if (largest == -std::numeric_limits<double>::infinity()) {
    std::fill_n(p, n, 0.0);
    return 0;
  }
  double total = std::exp(sink - largest);
  for (int64_t j = 0; j < n; ++j) total += p[j] = std::exp(p[j] - largest);
  if (is_order_key(key))
    total = sum_in_order(key, n, [=](int64_t j) { return p[j]; }) + std::exp(sink - largest);
  for (int64_t j = 0; j < n; ++j) p[j] /= total;
  return largest;
}

/// Every power may err one way and their sum the other way; no probability errs by more than 2.
void carry_probabilities(const double* scores, const double* errors, const double* p, int64_t n,
                         double largest, double sink, double* out) {
  double least = std::exp(sink - largest);
  for (int64_t j = 0; j < n; ++j) least += std::exp(scores[j] - largest - errors[j]);
  for (int64_t j = 0; j < n; ++j)
    out[j] = std::isinf(scores[j]) || least == 0
                 ? 0
                 : std::fmin(std::exp(scores[j] - largest + errors[j]) / least - p[j], 2.0);
}

}  // namespace

Traced Steps::softmax(const Traced& x, double sink) {
  const int64_t n = x.value.shape().back(), rows = n == 0 ? 0 : x.value.numel() / n;
  Tensor y = map_elements<double>(x.value, [](double v) { return v; });
  Tensor depths = mode_ == Mode::kValues ? Tensor() : Tensor::allocate(DType::kFloat64, y.shape());
  Tensor carried = bounds() ? Tensor::allocate(DType::kFloat64, y.shape()) : Tensor();
  const double* px = x.value.data<double>();
  double* py = y.mutable_data<double>();
  double* depth = depths.defined() ? depths.mutable_data<double>() : nullptr;
  double* pc = carried.defined() ? carried.mutable_data<double>() : nullptr;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * n;
    const double largest = softmax_row(key_, py + at, n, sink);
    for (int64_t j = at; depth != nullptr && j < at + n; ++j)
      depth[j] = std::isinf(px[j]) ? 0 : largest - px[j];
    if (pc != nullptr)
      carry_probabilities(px + at, x.error.data<double>() + at, py + at, n, largest, sink, pc + at);
  }
  const double fixed = static_cast<double>(n) + 10,
               usual = expected_additions(static_cast<double>(n)) + kLibraryUlps / 2;
  return step(
      std::move(y), [=](int64_t i, double v) { return (fixed + depth[i]) * v; },
      [=](int64_t i, double v) { return (usual + depth[i]) * v; }, [&] { return carried; });
}

}  // namespace assay
