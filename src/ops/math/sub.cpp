// Sub: y = a - b; integers wrap.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/math/extent_math.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Sub {
namespace {

void infer(InferContext& c) {
  infer_broadcast(c);
  propagate(c, sub_elements);
}

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_broadcast<T>(c.input(0), c.input(1), [](T a, T b) { return wrap_sub(a, b); }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, "same as Add-1", infer_legacy_broadcast, eval_legacy_broadcast<eval>},
    {6, "same as Add-6", infer_legacy_broadcast, eval_legacy_broadcast<eval>},
    {7, "same as Add-7", infer, eval},
    {13, "same as Add-13", infer, eval},
    {14, "same as Add-14", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Sub",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise},
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kSub},
            .is_ieee = true,
            .overflows = 2,
            .commutes_with_cast = true,
        },
};

}  // namespace assay::op_onnx_Sub
