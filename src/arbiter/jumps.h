// Functions that jump, of inputs that may have been others before they were rounded to a narrow type.
#pragma once

#include <span>

#include "arbiter/trial.h"

namespace assay {

/// Judges a result again, element by element: each must be what the node gives for some value that its stored
/// inputs may have been, or what a noisy evaluation gave there. Elements that are not make the verdict
/// kWrong; where all are, what seemed wrong is rounding. Nothing happens for operators that do not jump, or
/// inputs of float32; nor, where a result seems wrong, where that excuse does not count.
void judge_jumps(const SuspectNode& suspect, const StoredTensor& stored, std::span<const Tensor> lanes,
                 const ExcuseSet& excuses, ArbiterVerdict& out);

}  // namespace assay
