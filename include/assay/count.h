// How many: a number that may depend on extents that only a run tells.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/type.h"

namespace ASSAY_API assay {

/// A sum of products of symbols with whole coefficients, such as 12*batch*seq + 64, that may have parts of
/// which nothing is known. Everything it counts is at least 0; what exceeds 63 bits is not known.
class Count {
 public:
  Count(int64_t number = 0);  // NOLINT: numbers are counts
  /// An extent: a number, a symbol, or unknown.
  static Count of(const Dim& extent);
  static Count symbol(const std::string& name);
  static Count unknown();
  /// Product of all extents; unknown without dims.
  static Count elements(const std::optional<Dims>& dims);

  Count& operator+=(const Count& other);
  /// What was added before.
  Count& operator-=(const Count& other);
  friend Count operator+(Count a, const Count& b) { return a += b; }
  friend Count operator*(const Count& a, const Count& b);
  bool operator==(const Count&) const = default;

  /// No part is unknown.
  bool is_known() const { return unknown_parts_ == 0; }
  /// The number, when it depends on nothing.
  std::optional<int64_t> number() const;
  /// Products of symbols with their coefficients, the constant (no symbols) first.
  const std::map<std::vector<std::string>, int64_t>& terms() const { return terms_; }

  /// Whatever the symbols stand for, this is at least as much: every coefficient is, and only known parts
  /// are compared.
  bool covers(const Count& other) const;
  /// The smallest count of this form that covers both.
  static Count upper_bound(const Count& a, const Count& b);

  /// 64, 12*batch*seq + 64, 64 + ?, ?
  std::string str() const;

 private:
  std::map<std::vector<std::string>, int64_t> terms_;  // no zeros
  int64_t unknown_parts_ = 0;
};

}  // namespace assay
