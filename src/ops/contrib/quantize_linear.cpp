// QuantizeLinear: y = saturate(round(x / y_scale) + y_zero_point), with one scale for the tensor or, as a
// vector, for each index along the axis: the standard's rules, without blocks.
#include "ops/contrib/standard.h"
#include "ops/op_list.h"

namespace assay::op_ms_QuantizeLinear {
namespace {

void infer(InferContext& c) { infer_as(c, op_onnx_QuantizeLinear::def, 13); }
void eval(EvalContext& c) { eval_as(c, op_onnx_QuantizeLinear::def, 13); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  x: T1
in  y_scale: T1
in  y_zero_point: T2 ?
out y: T2
attr axis: int
type T1: float16 float
type T2: int8 uint8 int16 uint16 int4 uint4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QuantizeLinear",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .recodes = true,
            .quantizing_scale = 1,
            .compares =
                {{{.reach = ComparisonFact::Reach::kElement, .first = 0, .count = 1},
                  {.reach = ComparisonFact::Reach::kAll, .first = 1, .count = 1, .infinities = true}}},
        },
};

}  // namespace assay::op_ms_QuantizeLinear
