#include "assay/count.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/extent_form.h"

namespace assay {

Count::Count(int64_t number) {
  if (number != 0) terms_[{}] = number;
}

Count Count::symbol(const std::string& name) {
  Count c;
  c.terms_[{name}] = 1;
  return c;
}

Count Count::unknown() {
  Count c;
  c.unknown_parts_ = 1;
  return c;
}

Count Count::of(const Dim& extent) {
  if (extent.is_known()) return extent.value();
  if (!extent.is_symbol()) return unknown();
  const std::optional<ExtentForm> form = ExtentForm::read(extent.symbol());
  if (!form) return symbol(extent.symbol());
  Count count;
  for (const auto& [factors, coefficient] : form->terms()) {
    // A bound of counts is taken term by term, which a difference does not allow.
    if (coefficient < 0) return symbol(form->str());
    count.terms_[factors] = coefficient;
  }
  return count;
}

Count Count::elements(const std::optional<Dims>& dims) {
  if (!dims) return unknown();
  Count product = 1;
  for (const Dim& d : *dims) product = product * of(d);
  return product;
}

Count& Count::operator+=(const Count& other) {
  unknown_parts_ += other.unknown_parts_;
  for (const auto& [symbols, coefficient] : other.terms_) {
    int64_t& mine = terms_[symbols];
    if (__builtin_add_overflow(mine, coefficient, &mine)) {
      mine = 0;
      ++unknown_parts_;
    }
    if (mine == 0) terms_.erase(symbols);
  }
  return *this;
}

Count& Count::operator-=(const Count& other) {
  unknown_parts_ -= other.unknown_parts_;
  for (const auto& [symbols, coefficient] : other.terms_) {
    int64_t& mine = terms_[symbols];
    mine -= coefficient;
    if (mine == 0) terms_.erase(symbols);
  }
  return *this;
}

Count operator*(const Count& a, const Count& b) {
  Count product;
  for (const auto& [left, m] : a.terms_)
    for (const auto& [right, n] : b.terms_) {
      std::vector<std::string> symbols = left;
      symbols.insert(symbols.end(), right.begin(), right.end());
      std::sort(symbols.begin(), symbols.end());
      Count term;
      if (int64_t k = 0; __builtin_mul_overflow(m, n, &k))
        term.unknown_parts_ = 1;
      else
        term.terms_[std::move(symbols)] = k;
      product += term;
    }
  const bool is_zero = (a.is_known() && a.terms_.empty()) || (b.is_known() && b.terms_.empty());
  if (!is_zero && !(a.is_known() && b.is_known())) product.unknown_parts_ = 1;
  return product;
}

std::optional<int64_t> Count::number() const {
  if (!is_known() || terms_.size() > 1) return std::nullopt;
  if (terms_.empty()) return 0;
  return terms_.begin()->first.empty() ? std::optional(terms_.begin()->second) : std::nullopt;
}

bool Count::covers(const Count& other) const {
  return std::all_of(other.terms_.begin(), other.terms_.end(), [&](const auto& term) {
    const auto mine = terms_.find(term.first);
    return mine != terms_.end() && mine->second >= term.second;
  });
}

Count Count::upper_bound(const Count& a, const Count& b) {
  Count bound = a;
  bound.unknown_parts_ = std::max(a.unknown_parts_, b.unknown_parts_);
  for (const auto& [symbols, coefficient] : b.terms_) {
    int64_t& mine = bound.terms_[symbols];
    mine = std::max(mine, coefficient);
  }
  return bound;
}

std::string Count::str() const {
  std::string text;
  // Terms that grow with the input come first, the constant last.
  for (auto term = terms_.rbegin(); term != terms_.rend(); ++term) {
    const auto& [symbols, coefficient] = *term;
    std::string product = coefficient == 1 && !symbols.empty() ? "" : std::to_string(coefficient);
    for (const std::string& s : symbols) {
      const bool is_sum = s.find_first_of("+- /") != std::string::npos && s.back() != ')';
      product += (product.empty() ? "" : "*") + (is_sum ? "(" + s + ")" : s);
    }
    text += (text.empty() ? "" : " + ") + product;
  }
  if (!is_known()) text += text.empty() ? "?" : " + ?";
  return text.empty() ? "0" : text;
}

}  // namespace assay
