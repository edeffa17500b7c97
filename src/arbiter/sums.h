// What the addends that are really there explain of a result that lies beyond its bounds
// (ops/numerics/summation.h).
#pragma once

#include "arbiter/explained.h"
#include "arbiter/trial.h"

namespace assay {

/// Widens what is explained at elements that are not, by what float32 makes of their sums in some orders. The
/// worst elements come first, and where one of them stays beyond, it ends. False where the operator has no
/// sums, or none that are made in float32.
/// Of numbers that DequantizeLinear gave it may also be that those with their zero point still in them were
/// added up, and the zero points apart.
bool widen_for_sums(const Trial& trial, const SuspectNode& suspect, const Tensor& result, const Tensor& exact,
                    Explained& explained);

/// The same of an operator that is made of steps, whose errors travel within: as a whole.
bool widen_for_sums_of_steps(const Trial& trial, const Tensor& exact, Explained& explained);

}  // namespace assay
