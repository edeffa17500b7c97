// Symbols of extents that are known not to be 0.
#pragma once

#include <set>
#include <span>
#include <string>

#include "ops/extent_form.h"

namespace assay {

/// During its lifetime the symbols that are extents of these shapes stand for 1 or more, for its thread:
/// shape inference takes the last element of what they measure for one that is there.
class PositiveSymbols {
 public:
  explicit PositiveSymbols(std::span<const Dims> shapes);
  ~PositiveSymbols();
  PositiveSymbols(const PositiveSymbols&) = delete;
  PositiveSymbols& operator=(const PositiveSymbols&) = delete;

  /// True when the expression is never negative, where symbols that nothing is known of may be 0.
  static bool is_never_negative(const ExtentForm& form);

 private:
  std::set<std::string, std::less<>> symbols_;
  const PositiveSymbols* outer_;
};

}  // namespace assay
