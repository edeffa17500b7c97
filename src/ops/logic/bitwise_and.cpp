// BitwiseAnd: the bits that both have.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_BitwiseAnd {
namespace {

void eval(EvalContext& c) {
  visit_integer(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_broadcast<T>(c.input(0), c.input(1), [](T a, T b) { return a & b; }));
  });
}

constexpr OpVersion kVersions[] = {
    {18, R"(
in  A: T
in  B: T
out C: T
type T: uint8 uint16 uint32 uint64 int8 int16 int32 int64)",
     infer_broadcast, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "BitwiseAnd",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kBitAnd},
            .commutative = true,
        },
};

}  // namespace assay::op_onnx_BitwiseAnd
