// Softsign: y = x / (1 + |x|).
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Softsign {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return x / (1 + std::abs(x)); }));
}

constexpr OpVersion kVersions[] = {
    {1, "same as Acos-7", infer_same_as_input, eval},
    {22, "same as Acos-22", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Softsign",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = 3},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kSoftsign},
        },
};

}  // namespace assay::op_onnx_Softsign
