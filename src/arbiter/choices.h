// Places of the largest or smallest numbers, which may have been others before they were rounded to a narrow
// type.
#pragma once

#include "arbiter/trial.h"

namespace assay {

/// Judges the places that TopK, ArgMax or ArgMin found in computed numbers of a narrow type: they are right
/// if some numbers that are rounded to the stored ones lie in that order. What seemed wrong is then rounding;
/// a place that no such numbers explain makes the verdict kWrong. False, and nothing happens, for anything
/// else.
bool judge_choices(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                   ArbiterVerdict& out);

}  // namespace assay
