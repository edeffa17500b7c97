// A count that may depend on extents known only at run time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/type.h"

namespace ASSAY_API assay {

/// A sum of products of symbols with integer coefficients, such as 12*batch*seq + 64, which may have unknown
/// terms. Every term is at least 0; a term that exceeds 63 bits is unknown.
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
  /// Subtracts a count that was added before.
  Count& operator-=(const Count& other);
  friend Count operator+(Count a, const Count& b) { return a += b; }
  friend Count operator*(const Count& a, const Count& b);
  bool operator==(const Count&) const = default;

  /// True when no term is unknown.
  bool is_known() const { return unknown_parts_ == 0; }
  /// The number, if it depends on no symbol.
  std::optional<int64_t> number() const;
  /// Products of symbols with their coefficients, the constant (no symbols) first.
  const std::map<std::vector<std::string>, int64_t>& terms() const { return terms_; }

  /// True when this is at least as large for any values of the symbols: compares coefficients of known terms
  /// only.
  bool covers(const Count& other) const;
  /// The smallest count of this form that bounds both from above.
  static Count upper_bound(const Count& a, const Count& b);

  /// 64, 12*batch*seq + 64, 64 + ?, ?
  std::string str() const;

 private:
  std::map<std::vector<std::string>, int64_t> terms_;  // without zero coefficients
  int64_t unknown_parts_ = 0;
};

}  // namespace assay
