// Sum: the sum of all inputs, element by element.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Sum {
namespace {

void eval(EvalContext& c) {
  Tensor y = c.input(0);
  for (size_t i = 1; i < c.input_count(); ++i)
    y = map_broadcast<double>(y, c.input(i), [](double a, double b) { return a + b; });
  c.set_output(0, std::move(y));
}

int64_t terms(EvalContext& c) { return static_cast<int64_t>(c.input_count()) - 1; }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data_0: T ...
out sum: T
attr consumed_inputs: ints
type T: @float)",
     infer_equal_shapes, eval_equal_shapes<eval>},
    {6, R"(
in  data_0: T ...
out sum: T
type T: @float)",
     infer_equal_shapes, eval_equal_shapes<eval>},
    {8, "same as Sum-6", infer_broadcast, eval},
    {13, R"(
in  data_0: T ...
out sum: T
type T: @float_ir4)",
     infer_broadcast, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Sum",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = terms},
    .facts =
        {
            .elementwise = kEveryInput,
            .pointwise = {.op = kernels::PointwiseOp::kAdd},
            .commutative = true,
            .is_ieee = true,
            .overflows = kEveryInput,
            .sums = SumsFact::kProducts,
        },
};

}  // namespace assay::op_onnx_Sum
