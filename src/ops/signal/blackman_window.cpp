// BlackmanWindow: 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N).
#include "ops/op_list.h"
#include "ops/signal/cosine_window.h"

namespace assay::op_onnx_BlackmanWindow {
namespace {

constexpr std::array<double, 3> kWeights = {0.42, 0.5, 0.08};

void eval(EvalContext& c) { eval_cosine_window(c, kWeights); }

Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  return expected_cosine_window(c, u, y, kWeights);
}

constexpr OpVersion kVersions[] = {
    {17, R"(
in  size: T1
out output: T2
attr periodic: int = 1
attr output_datatype: int = 1
type T1: int32 int64
type T2: @numeric_ir4)",
     infer_cosine_window, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "BlackmanWindow",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_cosine_window, .expected = expected},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 0}}},
        },
};

}  // namespace assay::op_onnx_BlackmanWindow
