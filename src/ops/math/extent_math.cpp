#include "ops/math/extent_math.h"

#include <algorithm>
#include <cstdint>

#include "ops/infer_util.h"

namespace assay {
namespace {

/// Longest tensor whose elements are followed.
constexpr int64_t kLongest = 64;

bool is_followed(DType t) { return t == DType::kInt64 || t == DType::kInt32 || t == DType::kBool; }

bool is_negative(const Element& e) { return e.number && *e.number < 0; }
/// An extent that has a name, so it is not negative but otherwise open.
bool is_symbol(const Element& e) { return e.extent.is_symbol(); }

/// f of two numbers, unless it overflows.
Element exact(const Element& a, const Element& b, bool (*f)(int64_t, int64_t, int64_t*)) {
  int64_t result = 0;
  return f(*a.number, *b.number, &result) ? Element() : Element(result);
}

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

std::optional<Elements> input_elements(const InferContext& c, size_t i) {
  Elements out;
  if (const Tensor* t = c.input_value(i)) {
    if (!is_followed(t->dtype()) || t->rank() > 1 || t->numel() > kLongest) return {};
    for (const int64_t v : t->to_int64()) out.emplace_back(v);
    return out;
  }
  const Dims* extents = c.input_extents(i);
  if (extents == nullptr) return {};
  for (const Dim& d : *extents) out.emplace_back(d);
  return out;
}

void set_output_elements(InferContext& c, const Elements& elements) {
  // A 32-bit result that does not fit wraps, so it is none of our numbers.
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
  return Element(dim_floor_div(a.extent, b.extent));
}

Element max_elements(const Element& a, const Element& b) {
  if (a.number && b.number) return Element(std::max(*a.number, *b.number));
  if (is_symbol(a) && (a.extent.same_as(b.extent) || (b.number && *b.number <= 0))) return a;
  if (is_symbol(b) && a.number && *a.number <= 0) return b;
  return {};
}

Element min_elements(const Element& a, const Element& b) {
  if (a.number && b.number) return Element(std::min(*a.number, *b.number));
  if (is_symbol(a) && (a.extent.same_as(b.extent))) return a;
  if (is_symbol(a) && b.number && *b.number <= 0) return b;
  if (is_symbol(b) && a.number && *a.number <= 0) return a;
  return {};
}

Element equal_elements(const Element& a, const Element& b) {
  if (a.number && b.number) return Element(int64_t{*a.number == *b.number});
  if (a.extent.same_as(b.extent)) return Element(int64_t{1});
  if ((is_symbol(a) && is_negative(b)) || (is_negative(a) && is_symbol(b))) return Element(int64_t{0});
  return {};
}

}  // namespace assay
