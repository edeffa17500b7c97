// Differences of two constants.
#pragma once

#include <optional>
#include <string>

#include "assay/graph.h"

namespace assay {

struct ConstantDiff {
  bool is_same = true;                   ///< types, shapes and every bit
  std::string before, after;             ///< types and shapes
  std::optional<double> max_difference;  ///< of numbers of one shape
};

/// Reads both. A constant without data equals
/// only another of its type without data.
ConstantDiff diff_constants(const Value& a, const Value& b);

/// The largest absolute difference of two tensors of numbers of one shape; infinity when a NaN or infinity is
/// paired with another number. Nothing when they cannot be subtracted.
std::optional<double> max_difference(const UnalignedTensor& a, const UnalignedTensor& b);

}  // namespace assay
