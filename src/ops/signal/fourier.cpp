#include "ops/signal/fourier.h"

#include <algorithm>
#include <cmath>

namespace assay {

Fourier::Fourier(int64_t n, bool inverse) : n_(n), roots_(static_cast<size_t>(n)) {
  int64_t rest = n;
  for (int64_t f = 2; f * f <= rest; ++f)
    for (; rest % f == 0; rest /= f) factors_.push_back(f);
  if (rest > 1) factors_.push_back(rest);
  const double step = (inverse ? 2 : -2) * M_PI / static_cast<double>(n);
  for (int64_t k = 0; k < n; ++k)
    roots_[static_cast<size_t>(k)] = std::polar(1.0, step * static_cast<double>(k));
}

void Fourier::transform(const std::complex<double>* in, int64_t stride, std::complex<double>* out, int64_t n,
                        size_t level) const {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  // Every p-th element makes one of p transforms of length m; element k of the whole takes element k mod m of
  // each.
  const int64_t p = factors_[level], m = n / p, root_step = n_ / n;
  std::vector<std::complex<double>> parts(static_cast<size_t>(n));
  for (int64_t r = 0; r < p; ++r) transform(in + r * stride, stride * p, parts.data() + r * m, m, level + 1);
  for (int64_t k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (int64_t r = 0; r < p; ++r)
      sum += parts[static_cast<size_t>(r * m + k % m)] * roots_[static_cast<size_t>(r * k % n * root_step)];
    out[k] = sum;
  }
}

void fill_with_magnitude(const std::vector<std::complex<double>>& in,
                         std::vector<std::complex<double>>& out) {
  double sum = 0;
  for (const std::complex<double>& x : in) sum += std::fabs(x.real()) + std::fabs(x.imag());
  std::fill(out.begin(), out.end(), std::complex<double>(sum, sum));
}

}  // namespace assay
