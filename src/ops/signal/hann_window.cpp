// HannWindow: half a cosine raised to [0, 1].
#include "ops/op_list.h"
#include "ops/signal/cosine_window.h"

namespace assay::op_onnx_HannWindow {
namespace {

constexpr std::array<double, 3> kWeights = {0.5, 0.5, 0};

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
    .name = "HannWindow",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_cosine_window, .expected = expected},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 0}}},
        },
};

}  // namespace assay::op_onnx_HannWindow
