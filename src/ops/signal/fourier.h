// The discrete Fourier transform of one line, of any length.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace assay {

/// Splits the length into its prime factors: n * (sum of the factors) multiplications.
class Fourier {
 public:
  /// n >= 1. `inverse` changes the sign of the exponent; it does not divide by n.
  Fourier(int64_t n, bool inverse);

  /// out[k] = sum over j of in[j * stride] exp(-2 pi i jk / n), for all k < n. `out` must not overlap `in`.
  void operator()(const std::complex<double>* in, int64_t stride, std::complex<double>* out) const {
    transform(in, stride, out, n_, 0);
  }

 private:
  /// The transform of n elements; factors from `level` on are left.
  void transform(const std::complex<double>* in, int64_t stride, std::complex<double>* out, int64_t n,
                 size_t level) const;

  int64_t n_;
  std::vector<int64_t> factors_;
  std::vector<std::complex<double>> roots_;  ///< exp(-2 pi i k / n)
};

/// Every element of `out` gets the sum of the magnitudes of the parts of `in`, in both parts: what bounds
/// each element of the transform and, times (its roundings) u, its error.
void fill_with_magnitude(const std::vector<std::complex<double>>& in, std::vector<std::complex<double>>& out);

}  // namespace assay
