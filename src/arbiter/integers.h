// Integers, booleans and strings: equal, or different by a decision of rounding.
#pragma once

#include "arbiter/judgement.h"

namespace assay {

/// An element may differ where noisy evaluations disagree, by at most as much. If they disagree about many
/// elements, a few others may have been missed: those may differ by the usual step. Quantized values may
/// differ by as many steps as rounding explains (explained_steps()). Elements equal to the exact network's
/// (Standard::exact), if of this type and shape, are right.
void judge_integers(const Tensor& result, const Standard& standard, ArbiterVerdict& out);

}  // namespace assay
