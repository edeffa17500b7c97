// BitwiseOr: the bits that one has.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_BitwiseOr {
namespace {

void eval(EvalContext& c) {
  visit_integer(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_broadcast<T>(c.input(0), c.input(1), [](T a, T b) { return a | b; }));
  });
}

constexpr OpVersion kVersions[] = {
    {18, "same as BitwiseAnd-18", infer_broadcast, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "BitwiseOr",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kBitOr},
            .commutative = true,
        },
};

}  // namespace assay::op_onnx_BitwiseOr
