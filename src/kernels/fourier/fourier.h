// Discrete Fourier transforms of many lines of float32 numbers, computed in float64: DFT and STFT.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace assay::kernels {

/// The positions of lines: line i begins (i / group) * group_step + (i % group) * line_step numbers from the
/// start, and its elements are `step` numbers apart.
struct LinePlaces {
  int64_t group = 1, group_step = 0, line_step = 0, step = 1;
  int64_t start(int64_t line) const { return line / group * group_step + line % group * line_step; }
};

/// The transform to compute. Complex numbers are two adjacent floats.
struct Spectra {
  int64_t length = 1;    ///< of the transforms, at least 1
  bool inverse = false;  ///< with the sign of the exponent changed, and divided by the length
  int64_t lines = 0;
  int64_t given = 0;      ///< elements of a line, which are cut or filled with zeros to the length
  int64_t parts = 1;      ///< 1: real, 2: complex
  bool half = false;      ///< the input is the first half of a spectrum whose other half is its mirror image
  int64_t bins = 1;       ///< elements of a result that are kept, at most `length`
  int64_t out_parts = 2;  ///< 1: only the real parts
  LinePlaces in, out;
};

/// A factor that is a large prime, whose transforms are convolutions of a length that is a power of two
/// (Bluestein's chirp transform).
struct ChirpTables {
  int64_t radix = 0, padded = 0;
  std::vector<int64_t> factors;  ///< of the padded length
  std::vector<double> chirp;     ///< exp(-+pi i k^2 / radix), real and imaginary parts interleaved
  std::vector<double> spectrum;  ///< of its conjugate, wrapped around; divided by the padded length
  std::vector<double> roots;     ///< exp(-2 pi i k / padded)
};

/// Prepared transforms of one length. The length is split into its prime factors: length * (the sum of
/// those up to 128) operations a line, or fewer, and length * log(length) for each that is larger.
class FourierTransform {
 public:
  /// spectra.length is what counts here. Throws std::bad_alloc.
  explicit FourierTransform(const Spectra& spectra);

  /// y = the transforms of x, each element multiplied by its number of `window` before (null: 1). Parallel.
  /// Returns false when there is no memory.
  bool run(const float* x, const float* window, float* y) const noexcept;

 private:
  Spectra spectra_;
  std::vector<int64_t> factors_;
  std::vector<ChirpTables> chirps_;  ///< of the large ones
  std::vector<double> roots_;        ///< exp(-+2 pi i k / length): real and imaginary parts interleaved
};

}  // namespace assay::kernels
