// Which numbers a value may have, by the operators that make it.
#pragma once

#include <limits>
#include <unordered_map>

#include "assay/graph.h"
#include "transform/kept_values.h"

namespace assay {

/// All of its numbers are in [low, high].
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

class ValueRanges {
 public:
  /// Both must outlive it.
  ValueRanges(const Model& model, const FunctionSources& sources) : model_(model), sources_(sources) {}

  /// Of functions of one value: by 2,049 numbers of their argument up to `kFarthest`, beyond which activation
  /// functions do not turn back; of sums, of products of ranges, of averages and of moved elements: by those
  /// of their operands. Everything else may be anything.
  ValueRange of(const Value& v);

  static constexpr double kFarthest = 64;

 private:
  ValueRange compute(const Value& v);
  ValueRange of_function(const Value& v, const Value& source) const;

  const Model& model_;
  const FunctionSources& sources_;
  std::unordered_map<const Value*, ValueRange> known_;
};

}  // namespace assay
