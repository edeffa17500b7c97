// Log: the natural logarithm; -infinity for 0, NaN for x < 0.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Log {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::log(x); }));
}

constexpr OpVersion kVersions[] = {
    {1, "same as Exp-1", infer_same_as_input, eval},
    {6, "same as Acos-7", infer_same_as_input, eval},
    {13, "same as Acos-22", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Log",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = kLibraryUlps},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kLog},
        },
};

}  // namespace assay::op_onnx_Log
