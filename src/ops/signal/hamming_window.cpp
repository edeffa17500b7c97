// HammingWindow: 25/46 - 21/46 cos(2 pi n / N).
#include "ops/op_list.h"
#include "ops/signal/cosine_window.h"

namespace assay::op_onnx_HammingWindow {
namespace {

void eval(EvalContext& c) { eval_cosine_window(c, {25.0 / 46, 21.0 / 46, 0}); }

constexpr OpVersion kVersions[] = {
    {17, "same as BlackmanWindow-17", infer_cosine_window, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "HammingWindow",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_cosine_window},
};

}  // namespace assay::op_onnx_HammingWindow
