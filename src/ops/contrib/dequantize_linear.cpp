// DequantizeLinear: y = (x - x_zero_point) * x_scale, with one scale for the tensor or, as a vector, for each
// index along the axis: the standard's rules, without blocks.
#include "ops/contrib/standard.h"
#include "ops/op_list.h"

namespace assay::op_ms_DequantizeLinear {
namespace {

void infer(InferContext& c) { infer_as(c, op_onnx_DequantizeLinear::def, 13); }
void eval(EvalContext& c) { eval_as(c, op_onnx_DequantizeLinear::def, 13); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  x: T1
in  x_scale: T2
in  x_zero_point: T1 ?
out y: T2
attr axis: int
type T1: int8 uint8 int16 uint16 int32 int4 uint4
type T2: float16 float)",
     infer, eval},
};

}  // namespace

/// int32 may round on its way to float.
constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "DequantizeLinear",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = 2},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .recodes = true,
        },
};

}  // namespace assay::op_ms_DequantizeLinear
