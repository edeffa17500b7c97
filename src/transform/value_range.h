// Which numbers a value may have, by the operators that make it.
#pragma once

#include <limits>
#include <unordered_map>

#include "analysis/quantization.h"
#include "assay/graph.h"
#include "transform/kept_values.h"

namespace assay {

/// All of its numbers are in [low, high].
struct NumberRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

/// The quantization of a value whose calibrated step is `scale`, none of whose numbers is below `low`:
/// symmetric, or where its numbers do not go as far below zero, all 256 steps between its least number and
/// the limit. Always uint8: ONNX Runtime has integer kernels only where operands and result are of one type.
Quantization quantization_within(float scale, double low);

class ValueRanges {
 public:
  /// Both must outlive it.
  ValueRanges(const Model& model, const FunctionSources& sources) : model_(model), sources_(sources) {}

  /// Of functions of one value: by 2,049 numbers of their argument up to `kFarthest`, beyond which activation
  /// functions do not turn back; of sums, of products of ranges, of averages and of moved elements: by those
  /// of their operands. Everything else may be anything.
  NumberRange of(const Value& v);

  static constexpr double kFarthest = 64;

 private:
  NumberRange compute(const Value& v);
  NumberRange of_function(const Value& v, const Value& source) const;

  const Model& model_;
  const FunctionSources& sources_;
  std::unordered_map<const Value*, NumberRange> known_;
};

}  // namespace assay
