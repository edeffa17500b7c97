// Shared by the conversions between the two forms of tree ensembles: their names and lists.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "convert/rewrite.h"
#include "tensor/convert.h"

namespace assay::trees {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

/// TreeEnsemble's numbers for the words of the older operators.
inline constexpr const char* kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                         "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
inline constexpr int64_t kLeq = 0, kLt = 1, kEq = 4, kMember = 6;
inline constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
inline constexpr int64_t kAverage = 0, kSum = 1;
inline constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

template <size_t n>
int64_t number_of(const char* const (&words)[n], const std::string& word, const char* what) {
  const auto* const found = std::find(words, words + n, word);
  if (found == words + n) no_equivalent("the {} '{}'", what, word);
  return found - words;
}

template <size_t n>
std::string word_of(const char* const (&words)[n], int64_t number, const char* what) {
  if (number < 0 || number >= static_cast<int64_t>(n)) no_equivalent("the {} {}", what, number);
  return words[number];
}

template <typename T>
T list(Rewrite& r, const std::string& name) {
  if (!r.has(name)) return {};
  const auto* held = r.node().find_attribute(name)->get_if<T>();
  if (held == nullptr) no_equivalent("the attribute '{}' of another kind", name);
  return *held;
}

/// Appends the numbers; NoEquivalent where a float does not hold one.
inline void to_floats(const UnalignedTensor& t, const std::string& name, Floats& numbers) {
  const Tensor wide = to_float64(t);
  for (const double x : wide.span<double>()) {
    numbers.push_back(static_cast<float>(x));
    if (static_cast<double>(numbers.back()) != x && x == x)
      no_equivalent("the attribute '{}' with {}, which no float32 holds,", name, x);
  }
}

}  // namespace assay::trees
