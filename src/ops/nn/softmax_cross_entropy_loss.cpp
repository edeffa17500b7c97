// SoftmaxCrossEntropyLoss: the negative log-likelihood loss of the log-softmax over the classes, which is an
// output too.
#include <cmath>

#include "ops/nn/class_loss.h"
#include "ops/nn/softmax_rows.h"
#include "ops/op_list.h"

namespace assay::op_onnx_SoftmaxCrossEntropyLoss {
namespace {

void infer(InferContext& c) {
  infer_class_loss(c);
  c.set_output_type(1, c.input_type(0));
}

/// Classes are dimension 1.
Slices class_slices(const EvalContext& c) {
  const Shape& in = c.shape(0);
  c.check(in.size() >= 2, "the scores have shape {}; they need batch and classes", in.str());
  return {in[0], in[1], in.numel(2, in.size())};
}

void eval(EvalContext& c) {
  Tensor log_probabilities = log_softmax(c.input(0), class_slices(c));
  c.set_output(0, class_loss(c, log_probabilities));
  c.set_output(1, std::move(log_probabilities));
}

/// That of LogSoftmax, and picked and reduced as the loss is.
Tensor errors(const EvalContext& c, double u, size_t i, LossErrors kind) {
  const Slices slices = class_slices(c);
  const Tensor log_probabilities = log_softmax(c.input(0), slices);
  const auto of_log = kind == LossErrors::kBounds ? log_softmax_bound : log_softmax_expected;
  const Tensor own = of_log(c.input(0), log_probabilities, slices, u);
  return i == 1 ? own : class_loss_errors(c, log_probabilities, own, u, kind);
}
Tensor bound(EvalContext& c, double u, size_t i, const Tensor&) {
  return errors(c, u, i, LossErrors::kBounds);
}
Tensor expected(EvalContext& c, double u, size_t i, const Tensor&) {
  return errors(c, u, i, LossErrors::kIndependent);
}

constexpr OpVersion kVersions[] = {
    {12, R"(
in  scores: T
in  labels: Tind
in  weights: T ?
out output: T
out log_prob: T ?
attr ignore_index: int
attr reduction: string = "mean"
type T: @float
type Tind: int32 int64)",
     infer, eval},
    {13, R"(
in  scores: T
in  labels: Tind
in  weights: T ?
out output: T
out log_prob: T ?
attr ignore_index: int
attr reduction: string = "mean"
type T: @float_ir4
type Tind: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SoftmaxCrossEntropyLoss",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_SoftmaxCrossEntropyLoss
