#include "ops/infer_util.h"

#include "ops/extent_form.h"

namespace assay {

void infer_same_as_input(InferContext& c) { c.set_output_type(0, c.input_type(0)); }

namespace {

void infer_broadcast_as(InferContext& c, DType dtype) {
  Dims dims;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has_input(i)) continue;
    const Dims* d = c.input_dims(i);
    if (d == nullptr) return c.set_output(0, dtype);
    dims = broadcast_dims(dims, *d);
  }
  c.set_output(0, dtype, std::move(dims));
}

constexpr size_t kLongestExpression = 96;

Dim expression(const Dim& a, char op, const Dim& b) {
  const std::optional<ExtentForm> x = ExtentForm::of(a), y = ExtentForm::of(b);
  if (!x || !y) return {};
  const std::optional<ExtentForm> form = op == '+'   ? sum(*x, *y)
                                         : op == '-' ? sum(*x, *y, -1)
                                         : op == '*' ? product(*x, *y)
                                                     : quotient(*x, *y);
  if (!form) return {};
  if (const std::optional<int64_t> number = form->number()) return *number >= 0 ? Dim(*number) : Dim();
  std::string text = form->str();
  return text.size() > kLongestExpression ? Dim() : Dim::symbol(std::move(text));
}

}  // namespace

void infer_broadcast(InferContext& c) { infer_broadcast_as(c, c.input_dtype(0)); }
void infer_broadcast_bool(InferContext& c) { infer_broadcast_as(c, DType::kBool); }

Dim broadcast_dim(const Dim& a, const Dim& b) {
  if (a.is_known() && a.value() == 1) return b;
  if (b.is_known() && b.value() == 1) return a;
  if (a.is_known() && b.is_known()) {
    require(a.value() == b.value(), ErrorCode::kInvalidModel,
            "extents {} and {} cannot be broadcast together", a.value(), b.value());
    return a;
  }
  if (a.is_known()) return a;
  if (b.is_known()) return b;
  return a.same_as(b) ? a : Dim();
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) out[offset + i] = broadcast_dim(longer[offset + i], shorter[i]);
  return out;
}

Dim dim_add(const Dim& a, const Dim& b) {
  int64_t sum = 0;
  if (a.is_known() && b.is_known())
    return __builtin_add_overflow(a.value(), b.value(), &sum) ? Dim() : Dim(sum);
  if (a.is_known() && a.value() == 0) return b;
  if (b.is_known() && b.value() == 0) return a;
  return expression(a, '+', b);
}

Dim dim_sub(const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known()) return Dim(a.value() - b.value());
  if (b.is_known() && b.value() == 0) return a;
  if (a.same_as(b)) return Dim(0);
  return expression(a, '-', b);
}

Dim dim_mul(const Dim& a, const Dim& b) {
  int64_t product = 0;
  if (a.is_known() && b.is_known())
    return __builtin_mul_overflow(a.value(), b.value(), &product) ? Dim() : Dim(product);
  if ((a.is_known() && a.value() == 0) || (b.is_known() && b.value() == 1)) return a;
  if ((b.is_known() && b.value() == 0) || (a.is_known() && a.value() == 1)) return b;
  return expression(a, '*', b);
}

Dim dim_floor_div(const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known() && b.value() > 0) return Dim(a.value() / b.value());
  if (b.is_known() && b.value() == 1) return a;
  if (a.same_as(b)) return Dim(1);
  return expression(a, '/', b);
}

Dim dim_product(const Dims& dims, size_t first, size_t last) {
  Dim product(1);
  for (size_t i = first; i < last; ++i) product = dim_mul(product, dims[i]);
  return product;
}

}  // namespace assay
