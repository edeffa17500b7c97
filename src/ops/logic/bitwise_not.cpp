// BitwiseNot: every bit inverted.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_BitwiseNot {
namespace {

void eval(EvalContext& c) {
  visit_integer(c.input(0).dtype(),
                [&]<typename T>() { c.set_output(0, map_elements<T>(c.input(0), [](T x) { return ~x; })); });
}

constexpr OpVersion kVersions[] = {
    {18, R"(
in  X: T
out Y: T
type T: uint8 uint16 uint32 uint64 int8 int16 int32 int64)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "BitwiseNot",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kBitNot},
        },
};

}  // namespace assay::op_onnx_BitwiseNot
