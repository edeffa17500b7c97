// Discontinuous functions of inputs that may have differed before rounding to a narrow type.
#pragma once

#include <span>

#include "arbiter/trial.h"

namespace assay {

/// Judges a result again, element by element: each must be the node's result for a possible unrounded value
/// of its stored inputs, or that of a noisy evaluation. Other elements make the verdict kWrong; if there are
/// none, it is rounding. Does nothing for continuous operators, for inputs of float32, and, if a result seems
/// wrong, when this excuse is disabled.
void judge_jumps(const SuspectNode& suspect, const StoredTensor& stored, std::span<const Tensor> lanes,
                 const ExcuseSet& excuses, ArbiterVerdict& out);

}  // namespace assay
