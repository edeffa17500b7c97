// LogSoftmax: x - max - log(sum of exp(x - max)), in every slice.
#include "ops/nn/softmax_rows.h"
#include "ops/op_list.h"

namespace assay::op_onnx_LogSoftmax {
namespace {

void eval(EvalContext& c) { c.set_output(0, log_softmax(c.input(0), softmax_slices(c))); }

Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return log_softmax_bound(c.input(0), y, softmax_slices(c), u);
}

Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  return log_softmax_expected(c.input(0), y, softmax_slices(c), u);
}

constexpr OpVersion kVersions[] = {
    {1, "same as Hardmax-1", infer_slices, eval},
    {11, "same as Hardmax-1", infer_slices, eval},
    {13, "same as Hardmax-13", infer_slices, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "LogSoftmax",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .mixes_axis = true,
        },
};

}  // namespace assay::op_onnx_LogSoftmax
