#include "ops/math/extent_math.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "ops/extent_form.h"
#include "ops/infer_util.h"

namespace assay {
namespace {

/// Length of the longest tensor whose elements are tracked.
constexpr int64_t kLongest = 64;

bool is_followed(DType t) { return t == DType::kInt64 || t == DType::kInt32 || t == DType::kBool; }

bool is_negative(const Element& e) { return e.number && *e.number < 0; }
/// It has a name and is not negative, but otherwise open.
bool is_open_extent(const Element& e) { return e.extent.is_symbol() && !e.is_negative_at_times; }
bool may_be_negative(const Element& e) { return e.number ? *e.number < 0 : !is_open_extent(e); }

/// Nothing where nothing is known of the element.
std::optional<ExtentForm> form_of(const Element& e) {
  return e.number ? ExtentForm(*e.number) : ExtentForm::of(e.extent);
}

/// Bounds of a symbol's text, where names stand for extents of at least 1.
class Bounds {
 public:
  struct Range {
    double least = 1, most = INFINITY;
  };

  explicit Bounds(std::string_view text) : text_(text) {}

  Range whole() {
    const Range r = sum();
    return at_ == text_.size() ? r : Range{-INFINITY, INFINITY};
  }

 private:
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Range sum() {
    Range r = product();
    while (true) {
      if (take('+')) {
        const Range o = product();
        r = {r.least + o.least, r.most + o.most};
      } else if (take('-')) {
        const Range o = product();
        r = {r.least - o.most, r.most - o.least};
      } else {
        return r;
      }
    }
  }
  Range product() {
    Range r = operand();
    while (true) {
      const bool divides = at_ < text_.size() && text_[at_] == '/';
      if (!divides && !(at_ < text_.size() && text_[at_] == '*')) return r;
      ++at_;
      const Range o = operand();
      if (r.least < 0 || o.least < (divides ? 1 : 0))
        r = {-INFINITY, INFINITY};
      else if (divides)
        r = {o.most == INFINITY ? 0 : std::floor(r.least / o.most), r.most / o.least};
      else
        r = {r.least * o.least, r.most == 0 || o.most == 0 ? 0 : r.most * o.most};
    }
  }
  Range operand() {
    if (take('(')) {
      const Range r = sum();
      return take(')') ? r : Range{-INFINITY, INFINITY};
    }
    if (const size_t length = ExtentNames::at_begin_of(text_.substr(at_)); length > 0) {
      at_ += length;
      return {};
    }
    const size_t first = at_;
    while (at_ < text_.size() && std::string_view("+-*/()").find(text_[at_]) == std::string_view::npos) ++at_;
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + first, text_.data() + at_, number);
    const bool is_number = error == std::errc() && end == text_.data() + at_;
    return is_number ? Range{number, number} : first == at_ ? Range{-INFINITY, INFINITY} : Range{};
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// Whether a is at least b, whatever the symbols are; extents may be 0.
bool is_at_least(const Element& a, const Element& b) {
  if (a.number && b.number) return *a.number >= *b.number;
  if (is_open_extent(a) && b.number && *b.number <= 0) return true;
  const std::optional<ExtentForm> x = form_of(a), y = form_of(b);
  const std::optional<ExtentForm> difference = x && y ? sum(*x, *y, -1) : std::nullopt;
  return difference && difference->is_never_negative(0);
}

/// f of two numbers, unless it overflows.
Element exact(const Element& a, const Element& b, bool (*f)(int64_t, int64_t, int64_t*)) {
  int64_t result = 0;
  return f(*a.number, *b.number, &result) ? Element() : Element(result);
}

/// Longer texts are of no inference, and as deep as their author likes.
constexpr size_t kLongestText = 128;

using Elements = std::vector<Element>;

std::optional<Elements> combine(const std::optional<Elements>& a, const std::optional<Elements>& b,
                                Element (*f)(const Element&, const Element&)) {
  if (!a || !b) return {};
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return {};
  Elements out(a->size() == 1 ? b->size() : a->size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = f((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
  return out;
}

}  // namespace

bool is_not_negative(const Dim& symbol) {
  const std::string& text = symbol.symbol();
  if (text.find('-') == std::string::npos) return true;
  return text.size() <= kLongestText && Bounds(text).whole().least >= 0;
}

std::optional<Elements> input_elements(const InferContext& c, size_t i) {
  Elements out;
  if (const Tensor* t = c.input_value(i)) {
    if (!is_followed(t->dtype()) || t->rank() > 1 || t->numel() > kLongest) return {};
    for (const int64_t v : t->to_int64()) out.emplace_back(v);
    return out;
  }
  const Dims* extents = c.input_extents(i);
  if (extents == nullptr) return {};
  for (const Dim& d : *extents) {
    out.emplace_back(d);
    if (d.is_symbol() && c.is_extent(d)) out.back().is_negative_at_times = false;
  }
  return out;
}

void set_output_elements(InferContext& c, const Elements& elements) {
  // A 32-bit result that does not fit wraps, so it is unknown.
  const int64_t most = c.input_dtype(0) == DType::kInt32 ? INT32_MAX : INT64_MAX;
  Dims extents;
  for (const Element& e : elements) extents.push_back(e.number.value_or(0) > most ? Dim() : e.extent);
  const auto is_extent = [](const Dim& d) { return d.is_known() || d.is_symbol(); };
  if (std::any_of(extents.begin(), extents.end(), is_extent)) c.set_output_extents(0, std::move(extents));
}

void propagate(InferContext& c, Element (*f)(const Element&, const Element&)) {
  if (const auto out = combine(input_elements(c, 0), input_elements(c, 1), f)) set_output_elements(c, *out);
}

void propagate_variadic(InferContext& c, Element (*f)(const Element&, const Element&)) {
  std::optional<Elements> out = input_elements(c, 0);
  for (size_t i = 1; i < c.input_count() && out; ++i) out = combine(out, input_elements(c, i), f);
  if (out) set_output_elements(c, *out);
}

Element add_elements(const Element& a, const Element& b) {
  if (a.number && b.number)
    return exact(a, b, [](int64_t x, int64_t y, int64_t* r) { return __builtin_add_overflow(x, y, r); });
  if (is_negative(a) && *a.number != INT64_MIN) return Element(dim_sub(b.extent, Dim(-*a.number)));
  if (is_negative(b) && *b.number != INT64_MIN) return Element(dim_sub(a.extent, Dim(-*b.number)));
  return Element(dim_add(a.extent, b.extent));
}

Element sub_elements(const Element& a, const Element& b) {
  if (a.number && b.number)
    return exact(a, b, [](int64_t x, int64_t y, int64_t* r) { return __builtin_sub_overflow(x, y, r); });
  if (is_negative(b) && *b.number != INT64_MIN) return Element(dim_add(a.extent, Dim(-*b.number)));
  return Element(dim_sub(a.extent, b.extent));
}

Element mul_elements(const Element& a, const Element& b) {
  if (a.number && b.number)
    return exact(a, b, [](int64_t x, int64_t y, int64_t* r) { return __builtin_mul_overflow(x, y, r); });
  return Element(dim_mul(a.extent, b.extent));
}

Element div_elements(const Element& a, const Element& b) {
  if (b.number && *b.number == 0) return {};
  if (a.number && b.number)
    return *b.number == -1 ? sub_elements(Element(int64_t{0}), a) : Element(*a.number / *b.number);
  if (may_be_negative(a) || may_be_negative(b)) return {};  // truncated is not rounded down then
  return Element(dim_floor_div(a.extent, b.extent));
}

Element max_elements(const Element& a, const Element& b) {
  return is_at_least(a, b) ? a : is_at_least(b, a) ? b : Element();
}

Element min_elements(const Element& a, const Element& b) {
  return is_at_least(a, b) ? b : is_at_least(b, a) ? a : Element();
}

Element equal_elements(const Element& a, const Element& b) {
  if (a.number && b.number) return Element(int64_t{*a.number == *b.number});
  if (a.extent.same_as(b.extent)) return Element(int64_t{1});
  if ((is_open_extent(a) && is_negative(b)) || (is_negative(a) && is_open_extent(b)))
    return Element(int64_t{0});
  return {};
}

}  // namespace assay
