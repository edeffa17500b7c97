// The absolute and relative difference of two tensors, computed block by block with the arithmetic of NumPy.
//
// Types are first cast up: floats below 32 bits to float32, integers below 32 bits to wider ones. Two float32
// tensors are subtracted and divided in float32, as NumPy does, so that errors print with the same digits
// (divided in float64 when infinities compare equal, as upstream's selection makes them float64); any float64
// or a mix of floats and integers in float64. Integers are subtracted exactly: NumPy's 32- and 64-bit
// differences, above all those of uint64, wrap around, ours do not.
#pragma once

#include <memory>

#include "tensor/numbers.h"
#include "tensor/statistics.h"

namespace assay {

/// The value that replaces a zero divisor of floating type.
inline constexpr double kZeroReplacement = 2.220446049250313e-16;

/// |a - b| and |a - b| / |b| of two tensors of the same shape.
class Difference {
 public:
  /// With `infinities_equal`, infinities that are equal differ by 0 (else by NaN). `identical`: whether all
  /// bits are equal, if the caller knows. Throws Error (kInvalidArgument) for strings, complex numbers and
  /// shapes that differ.
  Difference(const Tensor& a, const Tensor& b, bool infinities_equal = false,
             std::optional<bool> identical = {});
  ~Difference();

  /// Of two bool tensors: where they differ, as 0 and 1.
  const Numbers& absolute() const { return *absolute_; }
  /// A zero in b counts as kZeroReplacement when b is of floating type; else the quotient is infinite or NaN.
  const Numbers& relative() const { return *relative_; }
  /// Both tensors are bool, so absolute() is boolean.
  bool is_bool() const { return is_bool_; }

  /// Statistics of absolute() and relative(), given those of a and b. Costs nothing when all bits are equal.
  Statistics absolute_statistics(const Statistics& of_a, std::optional<double> quantile = {}) const;
  Statistics relative_statistics(const Statistics& of_a, std::optional<double> quantile = {}) const;
  /// All bits are equal.
  bool identical() const { return identical_; }

 private:
  bool is_bool_;
  bool identical_;
  bool divides_zero_;  ///< a zero in b stays a divisor
  std::unique_ptr<Numbers> absolute_, relative_;
};

/// All elements as a tensor of kind() and shape().
Tensor materialize(const Numbers& numbers);

/// Positions of the elements with (absolute > atol or NaN) and (relative > rtol or NaN), ascending. The
/// tolerances are rounded to float32 before they are compared with float32 numbers, as NumPy does.
std::vector<int64_t> mismatches(const Difference& difference, double atol, double rtol);
/// True when mismatches() is not empty; faster.
bool any_mismatch(const Difference& difference, double atol, double rtol);

/// True when `difference`, of numbers of `kind`, exceeds the tolerance or is NaN; rounds as above.
bool exceeds(DType kind, double difference, double tolerance);

}  // namespace assay
