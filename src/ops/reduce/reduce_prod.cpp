// ReduceProd: the product of the elements; 1 for none. Integers wrap.
// The bound counts the products; the magnitude of the product is that of the output.
#include "ops/math/extent_math.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceProd {
namespace {

void infer(InferContext& c) {
  infer_reduce(c);
  propagate_reduce(c, Element(int64_t{1}), mul_elements);
}

void eval(EvalContext& c) {
  const Reduction r = plan_reduction(c);
  visit_summable(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, reduce<T>(
                        c.input(0), r, T(1), [](T x) { return x; }, [](T a, T b) { return wrap_mul(a, b); },
                        [](T x) { return x; }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, "same as ReduceL1-1", infer, eval},
    {11, "same as ReduceL1-1", infer, eval},
    {13, "same as ReduceL1-13", infer, eval},
    {18, "same as ReduceL1-18", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReduceProd",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = reduced_count},
    .facts =
        {
            .overflows = 1,
            .mixes_axis = true,
            .reduction = {.composes_for_integers = true, .keeps_single = true},
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceProd
