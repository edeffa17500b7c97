// Explanations of a result other than the rounding that bounds describe; checked only if something seems
// wrong.
#pragma once

#include <functional>

#include "arbiter/judge.h"

namespace assay {

/// The node that computed a result, and its inputs from the runner.
struct SuspectNode {
  const Node& node;
  const Model& model;
  const Value& output;
  std::function<Tensor(const Value&)> own;  ///< undefined for an unknown value
};

/// Judges again with excuses: subnormal numbers flushed to zero, sums whose actual addends float32 rounds to
/// this, ties of quantized values, and results that ONNX leaves open. Changes `out` when one explains it, and
/// adds a note.
void excuse(const SuspectNode& suspect, const StoredTensor& stored, const Standard& standard,
            ArbiterVerdict& out);

}  // namespace assay
