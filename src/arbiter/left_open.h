// Results that ONNX does not fix: looked for only where something seems wrong.
#pragma once

#include <optional>

#include "arbiter/judgement.h"
#include "arbiter/trial.h"
#include "tensor/convert.h"

namespace assay {

/// Whether ONNX leaves to every backend which numbers the node draws.
bool is_random(const Node& node, const Model& model);

/// Makes the verdict kOpen, with a note, where every element that differs is one that ONNX leaves open: what
/// a type cannot hold, how interpolated numbers become integers, the order of TopK's results, the scale of
/// nothing. Returns the excuse; none where nothing of that applies.
std::optional<Excuse> left_open(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                                const ExcuseSet& excuses, ArbiterVerdict& out);

/// The same of a Cast whose own inputs are not known: `given` is what evaluations of the network cast.
/// Elements of which one of them is beyond the type are open, all others are judged.
bool is_open_cast(std::span<const Tensor> given, const StoredTensor& stored, const Standard& standard,
                  ArbiterVerdict& out);

/// Whether every element lies in [low(i), high(i)]; counts those outside, and says where the first one is.
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
