// Indices of the largest or smallest numbers, which
// may have differed before rounding to a narrow type.
#pragma once

#include "arbiter/trial.h"

namespace assay {

/// Judges the indices of TopK, ArgMax or ArgMin on computed numbers of a narrow
/// type: they are right if some numbers that round to the stored ones have
/// that order. The verdict is then rounding; an index that no such numbers
/// explain makes it kWrong. Returns false and does nothing for other operators.
bool judge_choices(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                   ArbiterVerdict& out);

}  // namespace assay
