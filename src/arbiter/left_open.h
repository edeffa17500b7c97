// Results that ONNX leaves open; checked only if something seems wrong.
#pragma once

#include <optional>

#include "arbiter/judgement.h"
#include "arbiter/trial.h"
#include "tensor/convert.h"

namespace assay {

/// True for random nodes, whose numbers ONNX leaves to the backend.
bool is_random(const Node& node, const Model& model);

/// Makes the verdict kOpen, with a note, if ONNX leaves every differing element open: values out of a type's
/// range, rounding of interpolated numbers to integers, the order of TopK's results, the scale of an empty
/// range. Returns the excuse; none if none applies.
std::optional<Excuse> left_open(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                                const ExcuseSet& excuses, ArbiterVerdict& out);

/// The same for a Cast with unknown inputs: `given` are the inputs in evaluations of the network. Elements
/// for which one of them is out of range are open, others are judged.
bool is_open_cast(std::span<const Tensor> given, const StoredTensor& stored, const Standard& standard,
                  ArbiterVerdict& out);

/// True when every element is in [low(i), high(i)]; counts those outside, and locates the first one.
template <typename Low, typename High>
bool are_between(const StoredTensor& stored, Low low, High high, ArbiterVerdict& out) {
  const Tensor own = convert(stored.load(), DType::kFloat64);
  const double* r = own.data<double>();
  out.beyond = 0;
  for (int64_t i = own.numel(); i-- > 0;) {
    if (r[i] >= low(i) && r[i] <= high(i)) continue;
    ++out.beyond;
    out.worst_at = i;
  }
  if (out.beyond > 0) return false;
  return true;
}

}  // namespace assay
