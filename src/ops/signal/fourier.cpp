#include "ops/signal/fourier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace assay {
namespace {

using Number = std::complex<double>;

bool is_finite(const Number& x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

/// The numbers in a line that are not finite, by place: where a factor goes through a convolution, they would
/// turn all into NaN.
struct Stray {
  int64_t place;
  Number value;
};

/// Without the detours of std::complex for what is not finite.
Number times(const Number& a, const Number& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

Chirp::Chirp(int64_t n, bool inverse)
    : n_(n), padded_(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)))) {
  const auto count = static_cast<size_t>(n), padded = static_cast<size_t>(padded_);
  chirp_.resize(count);
  // k^2 modulo 2n, kept exactly: the angle itself would have lost its digits.
  for (uint64_t k = 0, square = 0; k < count; ++k) {
    chirp_[k] =
        std::polar(1.0, (inverse ? M_PI : -M_PI) * static_cast<double>(square) / static_cast<double>(n));
    square = (square + 2 * k + 1) % (2 * count);
  }
  roots_.resize(padded / 2);
  for (size_t k = 0; k < roots_.size(); ++k)
    roots_[k] = std::polar(1.0, -2 * M_PI * static_cast<double>(k) / static_cast<double>(padded));
  spectrum_.resize(padded);
  for (size_t k = 0; k < count; ++k) {
    spectrum_[k] = std::conj(chirp_[k]);
    if (k != 0) spectrum_[padded - k] = std::conj(chirp_[k]);
  }
  transform(spectrum_, false);
  for (Number& x : spectrum_) x /= static_cast<double>(padded_);
}

/// In place, by halves (Cooley and Tukey). The inverse is not divided by the length.
void Chirp::transform(std::vector<Number>& x, bool inverse) const {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t half = 1; half < n; half *= 2)
    for (size_t k = 0; k < half; ++k) {
      const Number root = roots_[k * (n / (2 * half))], w = inverse ? std::conj(root) : root;
      for (size_t i = k; i < n; i += 2 * half) {
        const Number odd = times(w, x[i + half]);
        x[i + half] = x[i] - odd;
        x[i] += odd;
      }
    }
}

void Chirp::operator()(Number* x) const {
  std::vector<Number> folded(static_cast<size_t>(padded_));
  for (size_t k = 0; k < chirp_.size(); ++k) folded[k] = times(x[k], chirp_[k]);
  transform(folded, false);
  for (size_t k = 0; k < folded.size(); ++k) folded[k] = times(folded[k], spectrum_[k]);
  transform(folded, true);
  for (size_t k = 0; k < chirp_.size(); ++k) x[k] = times(folded[k], chirp_[k]);
}

Fourier::Fourier(int64_t n, bool inverse) : n_(n), roots_(static_cast<size_t>(n)) {
  int64_t rest = n;
  for (int64_t f = 2; f * f <= rest; ++f)
    for (; rest % f == 0; rest /= f) factors_.push_back(f);
  if (rest > 1) factors_.push_back(rest);
  const double step = (inverse ? 2 : -2) * M_PI / static_cast<double>(n);
  for (int64_t k = 0; k < n; ++k)
    roots_[static_cast<size_t>(k)] = std::polar(1.0, step * static_cast<double>(k));
  for (const int64_t f : factors_)
    if (f > kMaxDirect && chirp_of(f) == nullptr) chirps_.emplace_back(f, inverse);
}

const Chirp* Fourier::chirp_of(int64_t p) const {
  for (const Chirp& c : chirps_)
    if (c.length() == p) return &c;
  return nullptr;
}

void Fourier::operator()(const Number* in, int64_t stride, Number* out) const {
  std::vector<Stray> strays;
  if (!chirps_.empty())
    for (int64_t j = 0; j < n_; ++j)
      if (!is_finite(in[j * stride])) strays.push_back({j, in[j * stride]});
  if (strays.empty()) return transform(in, stride, out, n_, 0);
  std::vector<Number> finite(static_cast<size_t>(n_));
  for (int64_t j = 0; j < n_; ++j)
    if (is_finite(in[j * stride])) finite[static_cast<size_t>(j)] = in[j * stride];
  transform(finite.data(), 1, out, n_, 0);
  for (int64_t k = 0; k < n_; ++k)
    for (const Stray& s : strays) {
      const auto angle = static_cast<size_t>(s.place * k % n_);
      out[k] += s.value * roots_[angle];
      if (std::isnan(out[k].real()) && std::isnan(out[k].imag())) break;
    }
}

void Fourier::transform(const Number* in, int64_t stride, Number* out, int64_t n, size_t level) const {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  // Every p-th element makes one of p transforms of length m; element k of the whole takes element k mod m of
  // each.
  const int64_t p = factors_[level], m = n / p, root_step = n_ / n;
  std::vector<Number> parts(static_cast<size_t>(n));
  if (m == 1)
    for (int64_t r = 0; r < p; ++r) parts[static_cast<size_t>(r)] = in[r * stride];
  else
    for (int64_t r = 0; r < p; ++r)
      transform(in + r * stride, stride * p, parts.data() + r * m, m, level + 1);
  if (const Chirp* chirp = p > kMaxDirect ? chirp_of(p) : nullptr; chirp != nullptr) {
    std::vector<Number> column(static_cast<size_t>(p));
    for (int64_t k = 0; k < m; ++k) {
      for (int64_t r = 0; r < p; ++r)
        column[static_cast<size_t>(r)] =
            parts[static_cast<size_t>(r * m + k)] * roots_[static_cast<size_t>(r * k * root_step)];
      (*chirp)(column.data());
      for (int64_t j = 0; j < p; ++j) out[k + j * m] = column[static_cast<size_t>(j)];
    }
    return;
  }
  for (int64_t k = 0; k < n; ++k) {
    Number sum = 0;
    for (int64_t r = 0; r < p; ++r)
      sum += parts[static_cast<size_t>(r * m + k % m)] * roots_[static_cast<size_t>(r * k % n * root_step)];
    out[k] = sum;
  }
}

Addends addends_of_transform(const std::vector<Number>& in, int64_t k, bool imaginary, bool inverse) {
  const auto n = static_cast<int64_t>(in.size());
  Addends a;
  const auto add = [&](double term) {
    if (term != 0) a.terms.push_back(term);
  };
  for (int64_t j = 0; j < n; ++j) {
    const double turns = static_cast<double>(j * k % n) / static_cast<double>(n);
    const double angle = (inverse ? 2 : -2) * std::numbers::pi * turns;
    const Number x = in[static_cast<size_t>(j)], root(std::cos(angle), std::sin(angle));
    add(x.real() * (imaginary ? root.imag() : root.real()));
    add(imaginary ? x.imag() * root.real() : -x.imag() * root.imag());
  }
  return a;
}

void fill_with_magnitude(const std::vector<std::complex<double>>& in,
                         std::vector<std::complex<double>>& out) {
  double sum = 0;
  for (const std::complex<double>& x : in) sum += std::fabs(x.real()) + std::fabs(x.imag());
  std::fill(out.begin(), out.end(), std::complex<double>(sum, sum));
}

}  // namespace assay
