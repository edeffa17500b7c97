// Discrete Fourier transforms of many lines of float32 numbers, computed in float64: DFT and STFT.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace assay::kernels {

/// Where lines lie: line i begins (i / group) * group_step + (i % group) * line_step numbers from the start,
/// and its elements are `step` numbers apart.
struct LinePlaces {
  int64_t group = 1, group_step = 0, line_step = 0, step = 1;
  int64_t start(int64_t line) const { return line / group * group_step + line % group * line_step; }
};

/// What is transformed. Complex numbers are two floats in a row.
struct Spectra {
  int64_t length = 1;    ///< of the transforms, at least 1
  bool inverse = false;  ///< with the sign of the exponent changed, and divided by the length
  int64_t lines = 0;
  int64_t given = 0;  ///< elements of a line, which are cut or filled with zeros to the length
  int64_t parts = 1;  ///< 1: real, 2: complex
  bool half = false;  ///< what is given is the first half of a spectrum whose other half is its mirror image
  int64_t bins = 1;   ///< elements of a result that are kept, at most `length`
  int64_t out_parts = 2;  ///< 1: only the real parts
  LinePlaces in, out;
};

/// Transforms of one length, made ready. The length is split into its prime factors: length * (their sum)
/// operations a line, or fewer.
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
  std::vector<double> roots_;  ///< exp(-+2 pi i k / length): real and imaginary parts in turns
};

}  // namespace assay::kernels
