// ScatterElements: a copy of data in which each update is at its own coordinates with the index in place of
// the one along the axis; a reduction combines it with the existing element.
#include "ops/op_list.h"
#include "ops/tensor/element_index.h"

namespace assay::op_onnx_ScatterElements {
namespace {

int64_t terms(EvalContext& c) {
  const ScatterReduction r = scatter_reduction(c);
  return r == ScatterReduction::kAdd || r == ScatterReduction::kMul ? most_updates(scatter_positions(c)) : 0;
}

constexpr OpVersion kVersions[] = {
    {11, "same as Scatter-9", infer_scatter_elements, eval_scatter_elements},
    {13, R"(
in  data: T
in  indices: Tind
in  updates: T
out output: T
attr axis: int = 0
type T: @all_ir4
type Tind: int32 int64)",
     infer_scatter_elements, eval_scatter_elements},
    {16, R"(
in  data: T
in  indices: Tind
in  updates: T
out output: T
attr reduction: string = "none"
attr axis: int = 0
type T: @all_ir4
type Tind: int32 int64)",
     infer_scatter_elements, eval_scatter_elements},
    {18, "same as ScatterElements-16", infer_scatter_elements, eval_scatter_elements},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ScatterElements",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = terms},
    .facts =
        {
            .moves = Moves::kInputs,
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ScatterElements
