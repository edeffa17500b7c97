// Extents as sums of products: the normal form of expressions over the same symbols, so that equal ones are
// recognized and read well.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Names of a model's extents that would read as arithmetic, `seq-len`: what its inputs declare, unless every
/// name in it is declared by itself (of inputs of extents `past` and `past + 1` the second is a sum). During
/// its lifetime they are names for its thread.
class ExtentNames {
 public:
  explicit ExtentNames(const Model& model);
  ~ExtentNames();
  ExtentNames(const ExtentNames&) = delete;
  ExtentNames& operator=(const ExtentNames&) = delete;

  /// Length of such a name that the text begins with; 0: it begins with none.
  static size_t at_begin_of(std::string_view text);

 private:
  std::vector<std::string> names_;
  const ExtentNames* outer_;
};

/// An expression over symbols that stand for whole numbers of at least 1. A factor is a symbol or the text of
/// a quotient that is not whole for all of them, `(h+1)/2`; quotients are rounded toward zero.
class ExtentForm {
 public:
  using Product = std::vector<std::string>;  ///< factors in order; none for the constant

  ExtentForm() = default;
  explicit ExtentForm(int64_t number);
  static ExtentForm factor(std::string text);

  /// Reads names, numbers, + - * / and parentheses; nothing for other texts, and for long ones.
  static std::optional<ExtentForm> read(std::string_view text);
  /// Of a number or a symbol, whose text counts as a name where it is no expression.
  static std::optional<ExtentForm> of(const Dim& extent);

  /// a + sign * b, with a sign of 1 or -1. Nothing where a coefficient overflows; quotients also where the
  /// divisor may be 0 or negative.
  friend std::optional<ExtentForm> sum(const ExtentForm& a, const ExtentForm& b, int64_t sign);
  friend std::optional<ExtentForm> product(const ExtentForm& a, const ExtentForm& b);
  friend std::optional<ExtentForm> quotient(const ExtentForm& a, const ExtentForm& b);

  /// Coefficients, none of them 0.
  const std::map<Product, int64_t>& terms() const { return terms_; }
  std::optional<int64_t> number() const;
  /// For all values of the symbols, with a least value of 1 or 0; false where that is not known.
  bool is_never_negative(int64_t least_symbol = 1) const;
  /// As read() takes it: `2*h*w+(h+1)/2-1`.
  std::string str() const;
  bool operator==(const ExtentForm&) const = default;

 private:
  std::optional<ExtentForm> over(int64_t divisor) const;
  std::optional<ExtentForm> over_both(int64_t divisor) const;
  std::optional<ExtentForm> over_product(const Product& divisor, int64_t coefficient) const;

  std::map<Product, int64_t> terms_;
};

std::optional<ExtentForm> sum(const ExtentForm& a, const ExtentForm& b, int64_t sign = 1);
std::optional<ExtentForm> product(const ExtentForm& a, const ExtentForm& b);
std::optional<ExtentForm> quotient(const ExtentForm& a, const ExtentForm& b);

}  // namespace assay
