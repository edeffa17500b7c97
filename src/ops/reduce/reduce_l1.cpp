// ReduceL1: the sum of |x|; 0 for no elements. Integers wrap.
#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceL1 {
namespace {

void eval(EvalContext& c) {
  const Reduction r = plan_reduction(c);
  visit_summable(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, reduce<T>(
                        c.input(0), r, T(0), [](T x) { return x < T(0) ? wrap_negate(x) : x; },
                        [](T a, T b) { return wrap_add(a, b); }, [](T x) { return x; }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out reduced: T
attr keepdims: int = 1
attr axes: ints
type T: @float uint32 uint64 int32 int64)",
     infer_reduce, eval},
    {11, "same as ReduceL1-1", infer_reduce, eval},
    {13, R"(
in  data: T
out reduced: T
attr axes: ints
attr keepdims: int = 1
type T: @float_ir4 uint32 uint64 int32 int64)",
     infer_reduce, eval},
    {18, R"(
in  data: T
in  axes: int64 ?
out reduced: T
attr noop_with_empty_axes: int = 0
attr keepdims: int = 1
type T: @float_ir4 uint32 uint64 int32 int64)",
     infer_reduce, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReduceL1",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = reduced_count},
    .facts =
        {
            .overflows = 1,
            .mixes_axis = true,
            .sums = SumsFact::kProducts,
            .reduction = {.kernel = kernels::Reduction::kL1, .composes_for_floats = true},
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceL1
