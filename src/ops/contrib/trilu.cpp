// Trilu: the standard's: the upper or lower triangle of each matrix, zero elsewhere.
#include "ops/contrib/standard.h"
#include "ops/op_list.h"

namespace assay::op_ms_Trilu {
namespace {

void infer(InferContext& c) { infer_as(c, op_onnx_Trilu::def, 14); }
void eval(EvalContext& c) { eval_as(c, op_onnx_Trilu::def, 14); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  k: int64 ?
out Y: T
attr upper: int = 1
type T: @numeric_ir4 bool)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "Trilu",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFilled,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_ms_Trilu
