// Acos: the arc cosine, in radians; NaN outside [-1, 1].
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Acos {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::acos(x); }));
}

/// Libraries subtract from pi / 2, whose rounding stays where the result is small.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return bound_elements(c, y, u, [](double, double y) { return kInverseUlps * y + 2; });
}

constexpr OpVersion kVersions[] = {
    {7, R"(
in  input: T
out output: T
type T: @float)",
     infer_same_as_input, eval},
    {22, R"(
in  input: T
out output: T
type T: @float_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Acos",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kAcos},
        },
};

}  // namespace assay::op_onnx_Acos
