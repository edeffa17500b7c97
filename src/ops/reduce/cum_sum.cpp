// CumSum: the running sum along an axis; exclusive leaves the element itself out, reverse runs from the
// end. Integers wrap.
#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/cumulate.h"

namespace assay::op_onnx_CumSum {
namespace {

void eval(EvalContext& c) {
  visit_summable(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, cumulate<T>(c, T(0), [](T a, T b) { return wrap_add(a, b); }));
  });
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  x: T
in  axis: T2
out y: T
attr reverse: int = 0
attr exclusive: int = 0
type T: uint32 uint64 int32 int64 float double
type T2: int32 int64)",
     infer_cumulate, eval},
    {14, "same as CumProd-26", infer_cumulate, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "CumSum",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = cumulated_count},
    .facts =
        {
            .overflows = 1,
            .mixes_axis = true,
            .sums = SumsFact::kProducts,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_CumSum
