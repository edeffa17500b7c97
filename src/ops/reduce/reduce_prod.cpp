// ReduceProd: the product of the elements; 1 for none. Integers wrap.
// The bound counts the products; the magnitude of the product is that of the output.
#include "ops/math/extent_math.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay {
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
    {1, R"(
in  data: T
out reduced: T
attr keepdims: int = 1
attr axes: ints
type T: @float uint32 uint64 int32 int64)",
     infer, eval},
    {11, R"(
in  data: T
out reduced: T
attr keepdims: int = 1
attr axes: ints
type T: @float uint32 uint64 int32 int64)",
     infer, eval},
    {13, R"(
in  data: T
out reduced: T
attr axes: ints
attr keepdims: int = 1
type T: @float_ir4 uint32 uint64 int32 int64)",
     infer, eval},
    {18, R"(
in  data: T
in  axes: int64 ?
out reduced: T
attr noop_with_empty_axes: int = 0
attr keepdims: int = 1
type T: @float_ir4 uint32 uint64 int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef op_onnx_ReduceProd = {
    .domain = "",
    .name = "ReduceProd",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = reduced_count},
};

}  // namespace assay
