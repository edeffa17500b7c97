// One case on the reference and on another backend.
//
// When do both agree? Types and shapes are equal, and
//  * integers, booleans and strings are equal to what the reference computes on the stored types;
//  * a float is either that, too, bitwise (except the payload of a NaN), or it is within the
//  worst-case
//    bound of the operator (reference/error_bound.h) around the float64 result, for arithmetic of the unit
//    roundoff of the output's own type (of stash_type or softmax_precision, if coarser), in any order, and
//    one rounding to that type more. The float64 result is granted the same bound at its own roundoff.
//  * where a node has subgraphs, noisy evaluations take the place of that bound (arbiter/judge.h).
// So no tolerance is chosen here: the operators' files say how far rounding goes.
#pragma once

#include <string>

#include "assay/backend.h"
#include "fuzz/random_case.h"

namespace assay::fuzz {

enum class Outcome : uint8_t {
  kEqual,          ///< bit for bit
  kRounding,       ///< within the bound
  kDifferent,      ///< must not be
  kOnlyReference,  ///< the other backend refuses a case that the reference accepts
  kNoKernel,       ///< ... because it has nothing for this operator, version or type
  kOnlyOther,      ///< the reference refuses a case that the other backend accepts: must not be
  kRefused,        ///< both refuse
  kCrashed,        ///< the process died; compare() does not say so itself
  kOtherWords,     ///< both refuse, with different sentences
};

struct Comparison {
  Outcome outcome = Outcome::kEqual;
  std::string text;  ///< the difference, or the refusal
  /// Of a float output that differs: its type, its largest error over the bound, and the same over the bound
  /// for float32 arithmetic.
  DType dtype = DType::kUndefined;
  double ratio = 0;
  double float32_ratio = 0;

  bool compared() const { return outcome <= Outcome::kDifferent; }
};

/// Whether an outcome is a problem, unless it is explained.
constexpr bool is_problem(Outcome o) {
  return o == Outcome::kDifferent || o == Outcome::kOnlyOther || o == Outcome::kCrashed;
}

/// Operator, attributes and inputs in one line.
std::string describe(const Case& c);

/// Never throws for what the case or a backend do wrong.
Comparison compare(const Case& c, const Backend& backend);

}  // namespace assay::fuzz
