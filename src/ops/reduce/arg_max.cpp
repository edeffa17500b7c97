// ArgMax: the position of the largest element along an axis: the first of equals, or the last with
// select_last_index. NaN counts as largest.
#include "ops/op_list.h"
#include "ops/reduce/arg_reduce.h"

namespace assay::op_onnx_ArgMax {
namespace {

void eval(EvalContext& c) {
  eval_arg(c, []<typename T>(T a, T b) { return a > b; });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out reduced: int64
attr keepdims: int = 1
attr axis: int = 0
type T: @numeric)",
     infer_arg, eval},
    {11, "same as ArgMax-1", infer_arg, eval},
    {12, R"(
in  data: T
out reduced: int64
attr select_last_index: int = 0
attr keepdims: int = 1
attr axis: int = 0
type T: @numeric)",
     infer_arg, eval},
    {13, R"(
in  data: T
out reduced: int64
attr select_last_index: int = 0
attr keepdims: int = 1
attr axis: int = 0
type T: @numeric_ir4)",
     infer_arg, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ArgMax",
    .versions = kVersions,
    .types = EvalTypes::kFloat32Too,
    .facts =
        {
            .mixes_axis = true,
            .compares = {{{.reach = ComparisonFact::Reach::kAxis}}},
        },
};

}  // namespace assay::op_onnx_ArgMax
