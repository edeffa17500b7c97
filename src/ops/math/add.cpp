// Add: y = a + b; integers wrap.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/math/extent_math.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Add {
namespace {

void infer(InferContext& c) {
  infer_broadcast(c);
  propagate(c, add_elements);
}

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_broadcast<T>(c.input(0), c.input(1), [](T a, T b) { return wrap_add(a, b); }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out C: T
attr axis: int
attr consumed_inputs: ints
attr broadcast: int = 0
type T: @float)",
     infer_legacy_broadcast, eval_legacy_broadcast<eval>},
    {6, R"(
in  A: T
in  B: T
out C: T
attr axis: int
attr broadcast: int = 0
type T: @float uint32 uint64 int32 int64)",
     infer_legacy_broadcast, eval_legacy_broadcast<eval>},
    {7, R"(
in  A: T
in  B: T
out C: T
type T: @float uint32 uint64 int32 int64)",
     infer, eval},
    {13, R"(
in  A: T
in  B: T
out C: T
type T: @float_ir4 uint32 uint64 int32 int64)",
     infer, eval},
    {14, R"(
in  A: T
in  B: T
out C: T
type T: @numeric_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Add",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise},
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kAdd},
            .commutative = true,
            .is_ieee = true,
            .overflows = 2,
            .commutes_with_cast = true,
        },
};

}  // namespace assay::op_onnx_Add
