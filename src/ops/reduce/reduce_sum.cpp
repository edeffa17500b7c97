// ReduceSum: the sum of the elements; 0 for none. Integers wrap.
#include "ops/math/extent_math.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceSum {
namespace {

void infer(InferContext& c) {
  infer_reduce(c);
  propagate_reduce(c, Element(int64_t{0}), add_elements);
}

void eval(EvalContext& c) {
  const Reduction r = plan_reduction(c);
  visit_summable(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, reduce<T>(
                        c.input(0), r, T(0), [](T x) { return x; }, [](T a, T b) { return wrap_add(a, b); },
                        [](T x) { return x; }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, "same as ReduceL1-1", infer, eval},
    {11, "same as ReduceL1-1", infer, eval},
    {13, "same as ReduceL1-18", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReduceSum",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = reduced_count},
    .facts =
        {
            .overflows = 1,
            .mixes_axis = true,
            .sums = SumsFact::kProducts,
            .reduction = {.kernel = kernels::Reduction::kSum,
                          .composes_for_floats = true,
                          .composes_for_integers = true,
                          .keeps_single = true},
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceSum
