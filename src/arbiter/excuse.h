// Explanations of a result other than the rounding that bounds describe; checked only if something seems
// wrong.
#pragma once

#include "arbiter/judgement.h"

namespace assay {

/// Judges again, allowing for what may excuse the result: subnormal numbers flushed to zero, sums whose
/// addends, added up in float32, give this result, a quantized value half-way between two, and what ONNX
/// leaves open. Changes `out` when that explains it, and says so in its note.
void excuse(const SuspectNode& suspect, const StoredTensor& stored, const Standard& standard,
            ArbiterVerdict& out);

}  // namespace assay
