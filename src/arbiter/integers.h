// Integers, booleans and strings: equal, or what rounding may have decided otherwise.
#pragma once

#include <span>

#include "arbiter/arbiter.h"

namespace assay {

/// An element may differ where the noisy evaluations disagree about it, by no more than they do. Where they
/// decide about many elements, a few others may have been missed: those may differ by the usual step.
/// Elements that are what `also_right` has, if there is one of this type and shape, are right.
void judge_integers(const Tensor& result, std::span<const Tensor> lanes, const Tensor* also_right,
                    ArbiterVerdict& out);

}  // namespace assay
