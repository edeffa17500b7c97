// Explains results beyond their bounds by the
// actual addends (ops/numerics/summation.h).
#pragma once

#include "arbiter/explained.h"
#include "arbiter/trial.h"

namespace assay {

/// Widens the explained error of unexplained elements by float32's results
/// of their sums in some orders. Starts with the worst elements, and stops
/// if one stays unexplained. False if the operator has no sums, or none in
/// float32. For outputs of DequantizeLinear the sums may also be formed
/// before subtracting zero points, and the zero points added separately: exactly, as integers, where all
/// factors were quantized.
bool widen_for_sums(const Trial& trial, const SuspectNode& suspect, const Tensor& result, const Tensor& exact,
                    Explained& explained);

/// The same for a composite operator with internal error propagation, as a whole.
bool widen_for_sums_of_steps(const Trial& trial, const Tensor& exact, Explained& explained);

}  // namespace assay
