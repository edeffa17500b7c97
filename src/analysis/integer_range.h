// Between which numbers the elements of an integer tensor lie, as far as the graph shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "assay/graph.h"

namespace assay {

/// Both ends belong to it.
struct IntegerRange {
  int64_t least, most;

  /// Whether all of it is exact in float32, which has all integers up to 2^24 in magnitude.
  bool is_exact_in_float32() const;
  bool contains(int64_t number) const { return least <= number && number <= most; }
};

/// Ranges of the results of integer operators; nothing where a result may leave its type.
std::optional<IntegerRange> sum(const IntegerRange& a, const IntegerRange& b);
std::optional<IntegerRange> difference(const IntegerRange& a, const IntegerRange& b);
std::optional<IntegerRange> product(const IntegerRange& a, const IntegerRange& b);
/// Truncated; nothing where the divisor may be 0.
std::optional<IntegerRange> quotient(const IntegerRange& a, const IntegerRange& b);
IntegerRange hull(const IntegerRange& a, const IntegerRange& b);

/// What follows from constants, extents that are numbers, narrow types, and what operators do to them. Knows
/// what it has found out before, so the graph must stay as it is.
class IntegerRanges {
 public:
  /// `model` has the operators, and says by its version which initializers are constants (is_fixed()).
  explicit IntegerRanges(const Model& model) : model_(model) {}

  /// Nothing where nothing is known, and for values that are no integers.
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
