// Explanations of a result other than the rounding that bounds describe; checked only if something seems
// wrong.
#pragma once

#include "arbiter/judgement.h"

namespace assay {

/// Judges again with what may excuse the result: numbers too small for normal ones taken as zero, sums whose
/// very addends float32 rounds to this, a quantised value half-way between two, and what ONNX leaves
/// open. Changes `out` when that explains it, and says so in its note.
void excuse(const SuspectNode& suspect, const StoredTensor& stored, const Standard& standard,
            ArbiterVerdict& out);

}  // namespace assay
