// IsNaN: y = x is not a number.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_IsNaN {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double, bool>(c.input(0), [](double x) { return std::isnan(x); }));
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  X: T1
out Y: T2
type T1: @float
type T2: bool)",
     infer_broadcast_bool, eval},
    {13, R"(
in  X: T1
out Y: T2
type T1: @float_ir4
type T2: bool)",
     infer_broadcast_bool, eval},
    {20, R"(
in  X: T1
out Y: T2
type T1: @float_ir4 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz
type T2: bool)",
     infer_broadcast_bool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "IsNaN",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kIsNaN},
        },
};

}  // namespace assay::op_onnx_IsNaN
