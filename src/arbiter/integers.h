// Integers, booleans and strings: equal, or what rounding may have decided otherwise.
#pragma once

#include "arbiter/judgement.h"

namespace assay {

/// An element may differ where the noisy evaluations disagree about it, by no more than they do. Where they
/// decide about many elements, a few others may have been missed: those may differ by the usual step.
/// Quantised values may differ by as many steps as rounding can move (explained_steps()). Elements that are
/// what the exact network has (Standard::exact), if that is of this type and shape, are right.
void judge_integers(const Tensor& result, const Standard& standard, ArbiterVerdict& out);

}  // namespace assay
