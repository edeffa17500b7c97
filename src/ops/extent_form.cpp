#include "ops/extent_form.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>
#include <unordered_set>

namespace assay {
namespace {

/// Longer texts are of no inference, and as deep as their author likes.
constexpr size_t kLongestForm = 256;
constexpr std::string_view kFormOperators = "+-*/()";

thread_local constinit const ExtentNames* names_of_thread = nullptr;

bool is_bare(std::string_view text) { return text.find_first_of("+-*/ ") == std::string_view::npos; }

bool is_name(std::string_view text) { return is_bare(text) || ExtentNames::at_begin_of(text) == text.size(); }

bool is_quotient(const std::string& factor) { return !is_name(factor); }

std::string in_parentheses(const std::string& text) { return is_bare(text) ? text : "(" + text + ")"; }

int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

class FormReader {
 public:
  explicit FormReader(std::string_view text) : text_(text) {}

  std::optional<ExtentForm> whole() {
    std::optional<ExtentForm> form = terms();
    skip_blanks();
    return at_ == text_.size() ? form : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<ExtentForm> terms() {
    const bool is_negative = take('-');
    std::optional<ExtentForm> form = factors();
    if (is_negative && form) form = sum(ExtentForm(), *form, -1);
    while (form) {
      const int64_t sign = take('+') ? 1 : take('-') ? -1 : 0;
      if (sign == 0) return form;
      const std::optional<ExtentForm> next = factors();
      if (!next) return std::nullopt;
      form = sum(*form, *next, sign);
    }
    return std::nullopt;
  }
  std::optional<ExtentForm> factors() {
    std::optional<ExtentForm> form = operand();
    while (form) {
      const bool divides = take('/');
      if (!divides && !take('*')) return form;
      const std::optional<ExtentForm> next = operand();
      if (!next) return std::nullopt;
      form = divides ? quotient(*form, *next) : product(*form, *next);
    }
    return std::nullopt;
  }
  std::optional<ExtentForm> operand() {
    if (take('(')) {
      const std::optional<ExtentForm> form = terms();
      return take(')') ? form : std::nullopt;
    }
    if (const size_t length = ExtentNames::at_begin_of(text_.substr(at_)); length > 0) {
      at_ += length;
      return ExtentForm::factor(std::string(text_.substr(at_ - length, length)));
    }
    const size_t end = std::min(text_.find_first_of(kFormOperators, at_), text_.size());
    std::string_view name = text_.substr(at_, end - at_);
    while (name.ends_with(' ')) name.remove_suffix(1);
    at_ = end;
    if (name.empty()) return std::nullopt;
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (stop != name.data() + name.size()) return ExtentForm::factor(std::string(name));
    return error == std::errc() ? std::optional(ExtentForm(number)) : std::nullopt;
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// Symbols first, then quotients.
bool comes_before(const std::string& a, const std::string& b) {
  return std::pair(is_quotient(a), a) < std::pair(is_quotient(b), b);
}

std::string text_of_term(const ExtentForm::Product& factors, int64_t coefficient) {
  // A form that is not a sum reads well as it is.
  const bool is_alone = factors.size() == 1 && coefficient == 1 && is_quotient(factors[0]);
  std::string text = coefficient == 1 && !factors.empty() ? "" : std::to_string(coefficient);
  for (const std::string& f : factors) text += (text.empty() ? "" : "*") + (is_alone ? f : in_parentheses(f));
  return text;
}

/// Names that a text is made of where it is read as arithmetic.
std::unordered_set<std::string> names_in(std::string_view text) {
  std::unordered_set<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kFormOperators), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (word.find_first_not_of("0123456789") != std::string_view::npos) names.emplace(word);
  }
  return names;
}

}  // namespace

ExtentNames::ExtentNames(const Model& model) : outer_(names_of_thread) {
  names_of_thread = nullptr;
  std::unordered_set<std::string> bare, others;
  for (const Value* v : model.graph->inputs)
    for (const Dim& d : v->type.dims.value_or(Dims()))
      if (d.is_symbol())
        (d.symbol().find_first_of(kFormOperators) == std::string::npos ? bare : others).insert(d.symbol());
  for (const std::string& text : others) {
    const std::unordered_set<std::string> parts = names_in(text);
    const bool is_arithmetic =
        ExtentForm::read(text) && !parts.empty() &&
        std::all_of(parts.begin(), parts.end(), [&](const std::string& p) { return bare.contains(p); });
    if (!is_arithmetic) names_.push_back(text);
  }
  // The longest first.
  std::sort(names_.begin(), names_.end(), [](const std::string& a, const std::string& b) {
    return std::pair(b.size(), a) < std::pair(a.size(), b);
  });
  names_of_thread = this;
}

ExtentNames::~ExtentNames() { names_of_thread = outer_; }

size_t ExtentNames::at_begin_of(std::string_view text) {
  if (names_of_thread == nullptr) return 0;
  for (const std::string& name : names_of_thread->names_) {
    if (!text.starts_with(name)) continue;
    const bool ends = text.size() == name.size() || text[name.size()] == ' ' ||
                      kFormOperators.find(text[name.size()]) != std::string_view::npos;
    if (ends) return name.size();
  }
  return 0;
}

ExtentForm::ExtentForm(int64_t number) {
  if (number != 0) terms_[{}] = number;
}

ExtentForm ExtentForm::factor(std::string text) {
  ExtentForm form;
  form.terms_[{std::move(text)}] = 1;
  return form;
}

std::optional<ExtentForm> ExtentForm::read(std::string_view text) {
  return text.size() <= kLongestForm ? FormReader(text).whole() : std::nullopt;
}

std::optional<ExtentForm> ExtentForm::of(const Dim& extent) {
  if (extent.is_known()) return ExtentForm(extent.value());
  if (!extent.is_symbol()) return std::nullopt;
  std::optional<ExtentForm> form = read(extent.symbol());
  return form ? form : factor(extent.symbol());
}

std::optional<int64_t> ExtentForm::number() const {
  if (terms_.empty()) return 0;
  if (terms_.size() > 1 || !terms_.begin()->first.empty()) return std::nullopt;
  return terms_.begin()->second;
}

std::optional<ExtentForm> sum(const ExtentForm& a, const ExtentForm& b, int64_t sign) {
  ExtentForm form = a;
  for (const auto& [factors, coefficient] : b.terms_) {
    int64_t& mine = form.terms_[factors];
    if (sign < 0 ? __builtin_sub_overflow(mine, coefficient, &mine)
                 : __builtin_add_overflow(mine, coefficient, &mine))
      return std::nullopt;
    if (mine == 0) form.terms_.erase(factors);
  }
  return form;
}

std::optional<ExtentForm> product(const ExtentForm& a, const ExtentForm& b) {
  ExtentForm form;
  for (const auto& [left, m] : a.terms_)
    for (const auto& [right, n] : b.terms_) {
      ExtentForm::Product factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      std::sort(factors.begin(), factors.end(), comes_before);
      ExtentForm term;
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(m, n, &coefficient)) return std::nullopt;
      term.terms_[std::move(factors)] = coefficient;
      std::optional<ExtentForm> all = sum(form, term);
      if (!all) return std::nullopt;
      form = *std::move(all);
    }
  return form;
}

bool ExtentForm::is_never_negative(int64_t least_symbol) const {
  int64_t least = 0;
  for (const auto& [factors, coefficient] : terms_) {
    if (!factors.empty() && coefficient < 0) return false;
    bool may_be_zero = !factors.empty() && least_symbol < 1;
    for (const std::string& f : factors) {
      if (is_quotient(f) && f.find('-') != std::string::npos) return false;
      may_be_zero = may_be_zero || is_quotient(f);
    }
    if (!may_be_zero && __builtin_add_overflow(least, coefficient, &least)) return false;
  }
  return least >= 0;
}

/// (d * q + r) / d is q + r / d. In what remains d and the coefficients have no common divisor, and a
/// quotient of a quotient is one. Of numbers that may be negative, ONNX rounds a quotient toward zero, and
/// only a common divisor goes.
std::optional<ExtentForm> ExtentForm::over(int64_t divisor) const {
  if (!is_never_negative()) {
    int64_t shared = divisor;
    for (const auto& [factors, coefficient] : terms_) shared = std::gcd(shared, coefficient);
    ExtentForm reduced = *this;
    for (auto& [factors, coefficient] : reduced.terms_) coefficient /= shared;
    if (shared == divisor) return reduced;
    return factor(in_parentheses(reduced.str()) + "/" + std::to_string(divisor / shared));
  }
  ExtentForm whole, rest;
  int64_t constant = 0, common = divisor;
  for (const auto& [factors, coefficient] : terms_) {
    if (factors.empty()) {
      const int64_t q = floor_of(coefficient, divisor);
      if (q != 0) whole.terms_[factors] = q;
      constant = coefficient - q * divisor;
    } else if (coefficient % divisor == 0) {
      whole.terms_[factors] = coefficient / divisor;
    } else {
      rest.terms_[factors] = coefficient;
      common = std::gcd(common, coefficient);
    }
  }
  if (rest.terms_.empty()) return whole;
  for (auto& [factors, coefficient] : rest.terms_) coefficient /= common;
  divisor /= common;
  if (const int64_t c = constant / common; c != 0) rest.terms_[{}] = c;
  std::optional<ExtentForm> part = rest.over_both(divisor);
  if (!part) part = factor(in_parentheses(rest.str()) + "/" + std::to_string(divisor));
  return sum(whole, *part);
}

/// Of x/m + c: (x + c * m) / (m * divisor).
std::optional<ExtentForm> ExtentForm::over_both(int64_t divisor) const {
  const auto& [factors, coefficient] = *terms_.rbegin();
  const size_t constants = terms_.contains({}) ? 1 : 0;
  if (terms_.size() != 1 + constants || factors.size() != 1 || coefficient != 1) return std::nullopt;
  const size_t stroke = factors[0].rfind('/');
  if (stroke == std::string::npos) return std::nullopt;
  const std::string below = factors[0].substr(stroke + 1);
  if (below.empty() || below.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const std::optional<ExtentForm> above = read(factors[0].substr(0, stroke)), under = read(below);
  const std::optional<int64_t> inner = under ? under->number() : std::nullopt;
  int64_t both = 0, shift = 0;
  if (!above || !inner || __builtin_mul_overflow(*inner, divisor, &both) ||
      (constants != 0 && __builtin_mul_overflow(terms_.at({}), *inner, &shift)))
    return std::nullopt;
  const std::optional<ExtentForm> shifted = sum(*above, ExtentForm(shift));
  return shifted ? shifted->over(both) : std::nullopt;
}

/// Symbols are at least 1, so they cancel where all terms have them; quotients may be 0.
std::optional<ExtentForm> ExtentForm::over_product(const Product& divisor, int64_t coefficient) const {
  if (coefficient < 1 || std::any_of(divisor.begin(), divisor.end(), is_quotient)) return std::nullopt;
  ExtentForm form;
  for (const auto& [factors, mine] : terms_) {
    Product left = factors;
    for (const std::string& d : divisor) {
      const auto it = std::find(left.begin(), left.end(), d);
      if (it == left.end()) return std::nullopt;
      left.erase(it);
    }
    form.terms_[std::move(left)] = mine;
  }
  return form.over(coefficient);
}

std::optional<ExtentForm> quotient(const ExtentForm& a, const ExtentForm& b) {
  if (const std::optional<int64_t> number = b.number()) return *number > 0 ? a.over(*number) : std::nullopt;
  if (b.terms_.size() == 1) {
    const auto& [factors, coefficient] = *b.terms_.begin();
    if (std::optional<ExtentForm> exact = a.over_product(factors, coefficient)) return exact;
  }
  const std::string divided = a.str(), divisor = b.str();
  if (divisor.find('-') != std::string::npos) return std::nullopt;
  return ExtentForm::factor(in_parentheses(divided) + "/" + in_parentheses(divisor));
}

std::string ExtentForm::str() const {
  if (terms_.size() == 1 && terms_.begin()->first.size() == 1 && terms_.begin()->second == 1)
    return terms_.begin()->first[0];
  std::vector<std::pair<Product, int64_t>> terms(terms_.begin(), terms_.end());
  // Positive terms come before negative ones, longer products before shorter ones.
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.second < 0, -static_cast<int64_t>(a.first.size())) <
           std::tuple(b.second < 0, -static_cast<int64_t>(b.first.size()));
  });
  std::string text;
  for (const auto& [factors, coefficient] : terms) {
    text += coefficient < 0 ? "-" : text.empty() ? "" : "+";
    text += text_of_term(factors, coefficient < 0 ? -coefficient : coefficient);
  }
  return text.empty() ? "0" : text;
}

}  // namespace assay
