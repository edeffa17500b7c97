// Where: x where the condition holds, else y; all three are broadcast.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/extent_math.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_Where {
namespace {

/// The elements of x or y, where the condition is known or does not matter.
void propagate_choice(InferContext& c) {
  const auto condition = input_elements(c, 0), x = input_elements(c, 1), y = input_elements(c, 2);
  if (!condition || !x || !y) return;
  const size_t n = std::max({condition->size(), x->size(), y->size()});
  const auto at = [n](const std::vector<Element>& v, size_t i) { return v.size() == n ? v[i] : v[0]; };
  for (const auto* v : {&*condition, &*x, &*y})
    if (v->size() != n && v->size() != 1) return;
  std::vector<Element> out(n);
  for (size_t i = 0; i < n; ++i) {
    const Element a = at(*x, i), b = at(*y, i), chosen = at(*condition, i);
    if (chosen.number)
      out[i] = *chosen.number != 0 ? a : b;
    else if (equal_elements(a, b).number == 1)
      out[i] = a;
  }
  set_output_elements(c, out);
}

void infer(InferContext& c) {
  const DType dtype = c.input_dtype(1) != DType::kUndefined ? c.input_dtype(1) : c.input_dtype(2);
  Dims dims;
  for (size_t i = 0; i < 3; ++i) {
    if (c.input_dims(i) == nullptr) return c.set_output(0, dtype);
    dims = broadcast_dims(dims, *c.input_dims(i));
  }
  c.set_output(0, dtype, std::move(dims));
  propagate_choice(c);
}

template <typename E>
Tensor choose(const Tensor& condition, const Tensor& x, const Tensor& y) {
  Tensor out = Tensor::allocate(x.dtype(), broadcast(condition.shape(), broadcast(x.shape(), y.shape())));
  const bool* pc = condition.data<bool>();
  const E *px = elements<E>(x), *py = elements<E>(y);
  E* to = mutable_elements<E>(out);
  for_broadcast_rows<3>(out.shape(), {condition.shape(), x.shape(), y.shape()},
                        [=](const auto& steps, int64_t at, const auto& offsets, int64_t n) {
                          const bool* which = pc + offsets[0];
                          const E *a = px + offsets[1], *b = py + offsets[2];
                          E* row = to + at;
                          for (int64_t i = 0; i < n; ++i)
                            row[i] = which[i * steps[0]] ? a[i * steps[1]] : b[i * steps[2]];
                        });
  return out;
}

void eval(EvalContext& c) {
  c.check(c.input(1).dtype() == c.input(2).dtype(), "x and y must be of one type, not {} and {}",
          dtype_name(c.input(1).dtype()), dtype_name(c.input(2).dtype()));
  visit_elements(c.input(1).dtype(),
                 [&]<typename E>() { c.set_output(0, choose<E>(c.input(0), c.input(1), c.input(2))); });
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  condition: B
in  X: T
in  Y: T
out output: T
type B: bool
type T: @all)",
     infer, eval},
    {16, R"(
in  condition: B
in  X: T
in  Y: T
out output: T
type B: bool
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Where",
    .versions = kVersions,
    .facts =
        {
            .moves = Moves::kSelected,
            .elementwise = 3,
            .pointwise = {.op = kernels::PointwiseOp::kSelect},
            .is_ieee = true,
        },
};

}  // namespace assay::op_onnx_Where
