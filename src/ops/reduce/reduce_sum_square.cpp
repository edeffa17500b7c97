// ReduceSumSquare: the sum of x^2; 0 for no elements. Integers wrap.
// The bound counts the squares and the sums.
#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceSumSquare {
namespace {

void eval(EvalContext& c) {
  const Reduction r = plan_reduction(c);
  visit_summable(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, reduce<T>(
                        c.input(0), r, T(0), [](T x) { return wrap_mul(x, x); },
                        [](T a, T b) { return wrap_add(a, b); }, [](T x) { return x; }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, "same as ReduceL1-1", infer_reduce, eval},
    {11, "same as ReduceL1-1", infer_reduce, eval},
    {13, "same as ReduceL1-13", infer_reduce, eval},
    {18, "same as ReduceL1-18", infer_reduce, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReduceSumSquare",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 1, .terms = reduced_count},
    .facts =
        {
            .overflows = 1,
            .mixes_axis = true,
            .sums = SumsFact::kProducts,
            .reduction = {.kernel = kernels::Reduction::kSumSquare},
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceSumSquare
