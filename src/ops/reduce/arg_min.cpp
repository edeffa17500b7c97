// ArgMin: the position of the smallest element along an axis: the first of equals, or the last with
// select_last_index. NaN counts as smallest.
#include "ops/op_list.h"
#include "ops/reduce/arg_reduce.h"

namespace assay::op_onnx_ArgMin {
namespace {

void eval(EvalContext& c) {
  eval_arg(c, []<typename T>(T a, T b) { return a < b; });
}

constexpr OpVersion kVersions[] = {
    {1, "same as ArgMax-1", infer_arg, eval},
    {11, "same as ArgMax-1", infer_arg, eval},
    {12, "same as ArgMax-12", infer_arg, eval},
    {13, "same as ArgMax-13", infer_arg, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ArgMin",
    .versions = kVersions,
    .types = EvalTypes::kFloat32Too,
    .facts =
        {
            .mixes_axis = true,
            .compares = {{{.reach = ComparisonFact::Reach::kAxis}}},
        },
};

}  // namespace assay::op_onnx_ArgMin
