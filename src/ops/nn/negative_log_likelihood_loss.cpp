// NegativeLogLikelihoodLoss: minus the log-probability of each target, weighted by class; none, the sum, or
// the weighted mean.
#include "ops/nn/class_loss.h"
#include "ops/op_list.h"

namespace assay::op_onnx_NegativeLogLikelihoodLoss {
namespace {

void eval(EvalContext& c) { c.set_output(0, class_loss(c, c.input(0))); }

/// Weights, sum and quotient only: (n + 2) u of the summed magnitudes.
Tensor errors(const EvalContext& c, double u, LossErrors kind) {
  return class_loss_errors(c, c.input(0), Tensor::zeros(DType::kFloat64, c.shape(0)), u, kind);
}
Tensor bound(EvalContext& c, double u, size_t, const Tensor&) { return errors(c, u, LossErrors::kBounds); }
Tensor expected(EvalContext& c, double u, size_t, const Tensor&) {
  return errors(c, u, LossErrors::kIndependent);
}

constexpr OpVersion kVersions[] = {
    {12, R"(
in  input: T
in  target: Tind
in  weight: T ?
out loss: T
attr ignore_index: int
attr reduction: string = "mean"
type T: @float
type Tind: int32 int64)",
     infer_class_loss, eval},
    {13, "same as NegativeLogLikelihoodLoss-12", infer_class_loss, eval},
    {22, R"(
in  input: T
in  target: Tind
in  weight: T ?
out loss: T
attr ignore_index: int
attr reduction: string = "mean"
type T: @float_ir4
type Tind: int32 int64)",
     infer_class_loss, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "NegativeLogLikelihoodLoss",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_NegativeLogLikelihoodLoss
