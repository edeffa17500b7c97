// Value ranges of integer tensors, as far as the graph shows.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "assay/graph.h"

namespace assay {

/// A closed range.
struct IntegerRange {
  int64_t least, most;

  /// True when all of it is exact in float32, which represents all integers up to 2^24 in magnitude.
  bool is_exact_in_float32() const;
  bool contains(int64_t number) const { return least <= number && number <= most; }
};

/// Ranges of the results of integer operators; nothing if a result may overflow.
std::optional<IntegerRange> sum(const IntegerRange& a, const IntegerRange& b);
std::optional<IntegerRange> difference(const IntegerRange& a, const IntegerRange& b);
std::optional<IntegerRange> product(const IntegerRange& a, const IntegerRange& b);
/// Truncated; nothing if the divisor may be 0.
std::optional<IntegerRange> quotient(const IntegerRange& a, const IntegerRange& b);
IntegerRange hull(const IntegerRange& a, const IntegerRange& b);

/// Derives ranges from constants, known extents, narrow types, and operators on them. Caches results, so the
/// graph must not change.
class IntegerRanges {
 public:
  /// `model` has the operators, and its version determines which initializers are constants (is_fixed()).
  explicit IntegerRanges(const Model& model) : model_(model) {}

  /// Nothing if unknown, and for values that are not integers.
  std::optional<IntegerRange> of(const Value* v);

 private:
  std::optional<IntegerRange> found(const Value* v, int depth);
  std::optional<IntegerRange> computed(const Value* v, int depth);
  std::optional<IntegerRange> of_result(const Node& n, int depth);
  std::optional<IntegerRange> of_operands(const Node& n, size_t first, size_t last, int depth);
  /// Max and Min.
  std::optional<IntegerRange> of_extremes(const Node& n, int depth);
  std::optional<IntegerRange> of_arithmetic(const Node& n, int depth);

  const Model& model_;
  std::unordered_map<const Value*, std::optional<IntegerRange>> known_;
};

}  // namespace assay
