#include "analysis/integer_range.h"

#include <algorithm>
#include <limits>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "ops/node_facts.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// Limits of the length of chains, and of the elements of constants.
constexpr int kDeepest = 24;
constexpr int64_t kMaxElements = int64_t{1} << 16;

template <typename T>
IntegerRange range_of_type() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

/// Nothing for other types than integers, and for uint64.
std::optional<IntegerRange> type_range(DType t) {
  switch (t) {
    case DType::kBool:
      return IntegerRange{0, 1};
    case DType::kInt8:
      return range_of_type<int8_t>();
    case DType::kUInt8:
      return range_of_type<uint8_t>();
    case DType::kInt16:
      return range_of_type<int16_t>();
    case DType::kUInt16:
      return range_of_type<uint16_t>();
    case DType::kInt32:
      return range_of_type<int32_t>();
    case DType::kUInt32:
      return range_of_type<uint32_t>();
    case DType::kInt64:
      return range_of_type<int64_t>();
    default:
      return std::nullopt;
  }
}

std::optional<IntegerRange> of_constant(const UnalignedTensor& t) {
  if (!type_range(t.dtype()) || t.numel() == 0 || t.numel() > kMaxElements) return std::nullopt;
  const std::vector<int64_t> numbers = convert(t.aligned(), DType::kInt64).to_int64();
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return IntegerRange{*least, *most};
}

/// Shape and Size of extents that are numbers.
std::optional<IntegerRange> of_extents(const Node& n) {
  const Dims* dims = dims_of(n.input(0));
  const std::optional<Shape> shape = dims != nullptr ? known_shape(*dims) : std::nullopt;
  if (!shape || shape->empty()) return std::nullopt;
  if (is_op(n, "Size")) return IntegerRange{shape->numel(), shape->numel()};
  const auto [least, most] = std::minmax_element(shape->begin(), shape->end());
  return IntegerRange{*least, *most};
}

template <typename F>
std::optional<IntegerRange> of_corners(const IntegerRange& a, const IntegerRange& b, F f) {
  std::optional<IntegerRange> all;
  for (const int64_t x : {a.least, a.most})
    for (const int64_t y : {b.least, b.most}) {
      int64_t result = 0;
      if (f(x, y, &result)) return std::nullopt;
      all = all ? hull(*all, {result, result}) : IntegerRange{result, result};
    }
  return all;
}

}  // namespace

bool IntegerRange::is_exact_in_float32() const {
  constexpr int64_t kExact = int64_t{1} << 24;
  return least >= -kExact && most <= kExact;
}

std::optional<IntegerRange> sum(const IntegerRange& a, const IntegerRange& b) {
  return of_corners(a, b, [](int64_t x, int64_t y, int64_t* r) { return __builtin_add_overflow(x, y, r); });
}

std::optional<IntegerRange> difference(const IntegerRange& a, const IntegerRange& b) {
  return of_corners(a, b, [](int64_t x, int64_t y, int64_t* r) { return __builtin_sub_overflow(x, y, r); });
}

std::optional<IntegerRange> product(const IntegerRange& a, const IntegerRange& b) {
  return of_corners(a, b, [](int64_t x, int64_t y, int64_t* r) { return __builtin_mul_overflow(x, y, r); });
}

std::optional<IntegerRange> quotient(const IntegerRange& a, const IntegerRange& b) {
  if (b.contains(0) || a.least == INT64_MIN) return std::nullopt;
  return of_corners(a, b, [](int64_t x, int64_t y, int64_t* r) {
    *r = x / y;
    return false;
  });
}

IntegerRange hull(const IntegerRange& a, const IntegerRange& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

std::optional<IntegerRange> IntegerRanges::of(const Value* v) { return found(v, 0); }

std::optional<IntegerRange> IntegerRanges::found(const Value* v, int depth) {
  if (v == nullptr || depth > kDeepest) return std::nullopt;
  if (const auto it = known_.find(v); it != known_.end()) return it->second;
  return known_[v] = computed(v, depth);
}

std::optional<IntegerRange> IntegerRanges::computed(const Value* v, int depth) {
  if (!v->type.is_tensor()) return std::nullopt;
  const std::optional<IntegerRange> whole = type_range(v->type.dtype);
  if (!whole) return std::nullopt;
  std::optional<IntegerRange> range;
  if (v->is_constant())
    range = is_fixed(v, model_.ir_version) && v->tensor().defined() ? of_constant(v->tensor()) : std::nullopt;
  else if (v->producer() != nullptr)
    range = of_result(*v->producer(), depth + 1);
  // Values out of range wrap around.
  const bool fits = range && whole->contains(range->least) && whole->contains(range->most);
  return fits ? range : whole;
}

std::optional<IntegerRange> IntegerRanges::of_operands(const Node& n, size_t first, size_t last, int depth) {
  std::optional<IntegerRange> all;
  for (size_t i = first; i < last; ++i) {
    const std::optional<IntegerRange> one = found(n.input(i), depth);
    if (!one) return std::nullopt;
    all = all ? hull(*all, *one) : one;
  }
  return all;
}

std::optional<IntegerRange> IntegerRanges::of_result(const Node& n, int depth) {
  if (is_op(n, "Shape") || is_op(n, "Size")) return of_extents(n);
  if (is_op(n, "Constant")) {
    const UnalignedTensor* t = data_of(n.output(0));
    return t != nullptr ? of_constant(*t) : std::nullopt;
  }
  if (facts_of(n, model_).gives_first() || is_op(n, "Cast")) return found(n.input(0), depth);
  if (is_op(n, "Concat")) return of_operands(n, 0, n.inputs().size(), depth);
  if (is_op(n, "Where")) return of_operands(n, 1, 3, depth);
  return is_op(n, "Max") || is_op(n, "Min") ? of_extremes(n, depth) : of_arithmetic(n, depth);
}

std::optional<IntegerRange> IntegerRanges::of_extremes(const Node& n, int depth) {
  const bool is_max = is_op(n, "Max");
  std::optional<IntegerRange> all = found(n.input(0), depth);
  for (size_t i = 1; i < n.inputs().size() && all; ++i) {
    const std::optional<IntegerRange> one = found(n.input(i), depth);
    if (!one) return std::nullopt;
    const auto choose = [&](int64_t a, int64_t b) { return is_max ? std::max(a, b) : std::min(a, b); };
    all = IntegerRange{choose(all->least, one->least), choose(all->most, one->most)};
  }
  return all;
}

std::optional<IntegerRange> IntegerRanges::of_arithmetic(const Node& n, int depth) {
  const bool is_arithmetic = is_op(n, "Add") || is_op(n, "Sub") || is_op(n, "Mul") || is_op(n, "Div");
  if (!is_arithmetic || n.inputs().size() != 2) return std::nullopt;
  const std::optional<IntegerRange> a = found(n.input(0), depth), b = found(n.input(1), depth);
  if (!a || !b) return std::nullopt;
  return is_op(n, "Add")   ? sum(*a, *b)
         : is_op(n, "Sub") ? difference(*a, *b)
         : is_op(n, "Mul") ? product(*a, *b)
                           : quotient(*a, *b);
}

}  // namespace assay
