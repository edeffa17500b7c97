// SwiGLU: y = swish(a) * b with swish(a) = a * sigmoid(alpha * a), for two inputs of one shape.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/swish.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_SwiGLU {
namespace {

void infer(InferContext& c) {
  const Dims *a = c.input_dims(0), *b = c.input_dims(1);
  if (a == nullptr || b == nullptr) return infer_same_as_input(c);
  bool same = a->size() == b->size();
  Dims out = *a;
  for (size_t i = 0; i < out.size() && same; ++i) {
    if (!out[i].is_known()) out[i] = (*b)[i].is_known() ? (*b)[i] : out[i];
    same = !(*b)[i].is_known() || out[i].value() == (*b)[i].value();
  }
  c.check(same, "the inputs must have one shape, not {} and {}", dims_str(*a), dims_str(*b));
  c.set_output(0, c.input_dtype(0), std::move(out));
}

void eval(EvalContext& c) {
  c.check(c.shape(0) == c.shape(1), "the inputs must have one shape, not {} and {}", c.shape(0).str(),
          c.shape(1).str());
  const double alpha = c.attr_float("alpha");
  c.set_output(0, map_broadcast<double>(c.input(0), c.input(1),
                                        [=](double a, double b) { return swish(a, alpha) * b; }));
}

/// The error of swish, times b, and the rounding of the product.
Tensor bound(EvalContext& c, double u, size_t, const Tensor&) {
  const double alpha = c.attr_float("alpha");
  return map_broadcast<double>(c.input(0), c.input(1), [=](double a, double b) {
    const double error = (swish_error(a, alpha) + std::abs(swish(a, alpha))) * std::abs(b);
    return std::isfinite(error) ? u * error : 0.0;
  });
}

constexpr OpVersion kVersions[] = {
    {28, R"(
in  A: T
in  B: T
out Y: T
attr alpha: float = 1
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SwiGLU",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_onnx_SwiGLU
