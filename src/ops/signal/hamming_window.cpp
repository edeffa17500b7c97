// HammingWindow: 25/46 - 21/46 cos(2 pi n / N).
#include "ops/op_list.h"
#include "ops/signal/cosine_window.h"

namespace assay::op_onnx_HammingWindow {
namespace {

constexpr std::array<double, 3> kWeights = {25.0 / 46, 21.0 / 46, 0};

void eval(EvalContext& c) { eval_cosine_window(c, kWeights); }

Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  return expected_cosine_window(c, u, y, kWeights);
}

constexpr OpVersion kVersions[] = {
    {17, "same as BlackmanWindow-17", infer_cosine_window, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "HammingWindow",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_cosine_window, .expected = expected},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 0}}},
        },
};

}  // namespace assay::op_onnx_HammingWindow
