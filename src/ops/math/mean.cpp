// Mean: the mean of all inputs, element by element.
// The bound counts the sums, the rounding of 1 / n and the product with it.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Mean {
namespace {

void eval(EvalContext& c) {
  Tensor y = c.input(0);
  for (size_t i = 1; i < c.input_count(); ++i)
    y = map_broadcast<double>(y, c.input(i), [](double a, double b) { return a + b; });
  const double n = static_cast<double>(c.input_count());
  c.set_output(0, map_elements<double>(y, [n](double sum) { return sum / n; }));
}

int64_t terms(EvalContext& c) { return static_cast<int64_t>(c.input_count()) - 1; }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data_0: T ...
out mean: T
attr consumed_inputs: ints
type T: @float)",
     infer_equal_shapes, eval_equal_shapes<eval>},
    {6, R"(
in  data_0: T ...
out mean: T
type T: @float)",
     infer_equal_shapes, eval_equal_shapes<eval>},
    {8, "same as Mean-6", infer_broadcast, eval},
    {13, R"(
in  data_0: T ...
out mean: T
type T: @float_ir4)",
     infer_broadcast, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Mean",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 2, .terms = terms},
    .facts =
        {
            .elementwise = kEveryInput,
            .commutative = true,
            .sums = SumsFact::kMean,
        },
};

}  // namespace assay::op_onnx_Mean
