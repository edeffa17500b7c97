// Min: the smallest of all inputs, element by element; NaN if one is NaN.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/math/extent_math.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Min {
namespace {

void infer(InferContext& c) {
  infer_broadcast(c);
  propagate_variadic(c, min_elements);
}

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    Tensor y = c.input(0);
    for (size_t i = 1; i < c.input_count(); ++i)
      y = map_broadcast<T>(y, c.input(i), [](T a, T b) { return smaller(a, b); });
    c.set_output(0, std::move(y));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data_0: T ...
out min: T
attr consumed_inputs: ints
type T: @float)",
     infer_equal_shapes, eval_equal_shapes<eval>},
    {6, R"(
in  data_0: T ...
out min: T
type T: @float)",
     infer_equal_shapes, eval_equal_shapes<eval>},
    {8, "same as Min-6", infer, eval},
    {12, R"(
in  data_0: T ...
out min: T
type T: @numeric)",
     infer, eval},
    {13, R"(
in  data_0: T ...
out min: T
type T: @numeric_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Min",
    .versions = kVersions,
    .facts =
        {
            .moves = Moves::kSelected,
            .elementwise = kEveryInput,
            .pointwise = {.op = kernels::PointwiseOp::kMin},
            .commutative = true,
            .commutes_with_cast = true,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_Min
