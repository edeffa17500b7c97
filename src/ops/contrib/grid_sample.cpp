// GridSample: the standard's of opset 16, with bilinear, nearest and bicubic modes.
#include "ops/contrib/standard.h"
#include "ops/op_list.h"

namespace assay {
namespace {

void infer(InferContext& c) { infer_as(c, op_onnx_GridSample, 16); }
void eval(EvalContext& c) { eval_as(c, op_onnx_GridSample, 16); }

Tensor bound(EvalContext& c, double u, size_t i, const Tensor& y) {
  EvalContext as(c.node(), op_onnx_GridSample, *version_for(op_onnx_GridSample, 16), c.inputs());
  return op_onnx_GridSample.numerics.bound(as, u, i, y);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
in  Grid: T1
out Y: T2
attr align_corners: int = 0
attr padding_mode: string = "zeros"
attr mode: string = "bilinear"
type T1: @all
type T2: @float)",
     infer, eval},
};

}  // namespace

constinit const OpDef op_ms_GridSample = {
    .domain = "com.microsoft",
    .name = "GridSample",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay
