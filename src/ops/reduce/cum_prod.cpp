// CumProd: the running product along an axis; exclusive leaves the element itself out, reverse runs from
// the end. Integers wrap.
#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/cumulate.h"

namespace assay::op_onnx_CumProd {
namespace {

void eval(EvalContext& c) {
  visit_summable(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, cumulate<T>(c, T(1), [](T a, T b) { return wrap_mul(a, b); }));
  });
}

constexpr OpVersion kVersions[] = {
    {26, R"(
in  x: T
in  axis: T2
out y: T
attr reverse: int = 0
attr exclusive: int = 0
type T: @float_ir4 uint32 uint64 int32 int64
type T2: int32 int64)",
     infer_cumulate, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "CumProd",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = cumulated_count},
    .facts =
        {
            .mixes_axis = true,
        },
};

}  // namespace assay::op_onnx_CumProd
