// Pad: the standard's of opset 13 for floats: modes constant, reflect and edge; a negative number crops.
#include "ops/contrib/standard.h"
#include "ops/op_list.h"

namespace assay::op_ms_Pad {
namespace {

void infer(InferContext& c) { infer_as(c, op_onnx_Pad::def, 13); }
void eval(EvalContext& c) { eval_as(c, op_onnx_Pad::def, 13); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
in  pads: int64
in  value: T ?
out output: T
attr mode: string = "constant"
type T: @float)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "Pad",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFilled,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
            .may_grow = true,
        },
};

}  // namespace assay::op_ms_Pad
