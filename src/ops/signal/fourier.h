// The discrete Fourier transform of one line, of any length.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "ops/numerics/summation.h"

namespace assay {

/// Transforms of a large prime length, as a convolution whose length is a power of two (Bluestein's chirp
/// transform).
class Chirp {
 public:
  /// n >= 2; n log n time for each transform. `inverse` changes the sign of the exponent.
  Chirp(int64_t n, bool inverse);

  int64_t length() const { return n_; }
  /// x[k] becomes the sum over j of x[j] exp(-2 pi i jk / n); n elements, all finite.
  void operator()(std::complex<double>* x) const;

 private:
  void transform(std::vector<std::complex<double>>& x, bool inverse) const;

  int64_t n_, padded_;
  std::vector<std::complex<double>> chirp_;  ///< exp(-pi i k^2 / n)
  std::vector<std::complex<double>>
      spectrum_;  ///< of its conjugate, wrapped around; divided by the padded length
  std::vector<std::complex<double>> roots_;  ///< exp(-2 pi i k / padded), half of them
};

/// Splits the length into its prime factors: n * (sum of those up to kMaxDirect) multiplications, and n log
/// n for each that is larger.
class Fourier {
 public:
  static constexpr int64_t kMaxDirect = 128;

  /// n >= 1. `inverse` changes the sign of the exponent; it does not divide by n.
  Fourier(int64_t n, bool inverse);

  /// out[k] = sum over j of in[j * stride] exp(-2 pi i jk / n), for all k < n. `out` must not overlap `in`.
  void operator()(const std::complex<double>* in, int64_t stride, std::complex<double>* out) const;

 private:
  /// The transform of n elements; factors from `level` on remain.
  void transform(const std::complex<double>* in, int64_t stride, std::complex<double>* out, int64_t n,
                 size_t level) const;
  const Chirp* chirp_of(int64_t p) const;

  int64_t n_;
  std::vector<int64_t> factors_;
  std::vector<Chirp> chirps_;                ///< one for each factor above kMaxDirect
  std::vector<std::complex<double>> roots_;  ///< exp(-2 pi i k / n)
};

/// The addends of element k of a transform of `in`, in one of its parts.
Addends addends_of_transform(const std::vector<std::complex<double>>& in, int64_t k, bool imaginary,
                             bool inverse);

/// Every element of `out` gets the sum of the magnitudes of the parts of `in`, in both parts: a bound of each
/// element of the transform and, times (its roundings) u, of its error.
void fill_with_magnitude(const std::vector<std::complex<double>>& in, std::vector<std::complex<double>>& out);

}  // namespace assay
