// Scatter: the first name of ScatterElements. Opset 11 withdrew it.
#include "ops/op_list.h"
#include "ops/tensor/element_index.h"

namespace assay::op_onnx_Scatter {
namespace {

void withdrawn(const OpContext& c) {
  fail(ErrorCode::kInvalidModel, "{} was withdrawn in opset {}; use ScatterElements", c.op().name, c.since());
}
void infer_withdrawn(InferContext& c) { withdrawn(c); }
void eval_withdrawn(EvalContext& c) { withdrawn(c); }

constexpr OpVersion kVersions[] = {
    {9, R"(
in  data: T
in  indices: Tind
in  updates: T
out output: T
attr axis: int = 0
type T: @all
type Tind: int32 int64)",
     infer_scatter_elements, eval_scatter_elements},
    {11, "same as Scatter-9", infer_withdrawn, eval_withdrawn},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Scatter",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kInputs,
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_Scatter
