// IsInf: y = x is infinite, of a sign that is looked for.
#include <limits>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_IsInf {
namespace {

void eval(EvalContext& c) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool positive = c.attr_int("detect_positive") != 0, negative = c.attr_int("detect_negative") != 0;
  c.set_output(0, map_elements<double, bool>(c.input(0), [=](double x) {
                 return (positive && x == kInfinity) || (negative && x == -kInfinity);
               }));
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  X: T1
out Y: T2
attr detect_negative: int = 1
attr detect_positive: int = 1
type T1: float double
type T2: bool)",
     infer_broadcast_bool, eval},
    {20, R"(
in  X: T1
out Y: T2
attr detect_negative: int = 1
attr detect_positive: int = 1
type T1: @float_ir4 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz
type T2: bool)",
     infer_broadcast_bool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "IsInf",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kIsInf,
                          .parameters = {"detect_positive", "detect_negative"}},
        },
};

}  // namespace assay::op_onnx_IsInf
