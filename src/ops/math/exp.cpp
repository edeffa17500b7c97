// Exp: y = e^x.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/beside.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Exp {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::exp(x); }));
}

Tensor beside(const Tensor& x, const Tensor& y, const Tensor& lane) {
  return beside_elements(
      x, y, lane, [](double y, double d) { return y + y * small_expm1(d); },
      [](double x) { return std::exp(x); });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
out output: T
attr consumed_inputs: ints
type T: @float)",
     infer_same_as_input, eval},
    {6, "same as Acos-7", infer_same_as_input, eval},
    {13, "same as Acos-22", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Exp",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = kLibraryUlps, .beside = beside},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kExp},
            .sign = SignOfResult::kPositive,
        },
};

}  // namespace assay::op_onnx_Exp
