// LogSoftmax: x - max - log(sum of exp(x - max)), in every slice.
#include "ops/nn/softmax_rows.h"
#include "ops/op_list.h"

namespace assay {
namespace {

void eval(EvalContext& c) { c.set_output(0, log_softmax(c.input(0), softmax_slices(c))); }

Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return log_softmax_bound(c.input(0), y, softmax_slices(c), u);
}

Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  return log_softmax_expected(c.input(0), y, softmax_slices(c), u);
}

constexpr std::string_view kSchema1 = R"(
in  input: T
out output: T
attr axis: int = 1
type T: @float)";

constexpr OpVersion kVersions[] = {
    {1, kSchema1, infer_slices, eval},
    {11, kSchema1, infer_slices, eval},
    {13, R"(
in  input: T
out output: T
attr axis: int = -1
type T: @float_ir4)",
     infer_slices, eval},
};

}  // namespace

constinit const OpDef op_onnx_LogSoftmax = {
    .domain = "",
    .name = "LogSoftmax",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
};

}  // namespace assay
