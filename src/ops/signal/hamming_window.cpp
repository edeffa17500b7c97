// HammingWindow: 25/46 - 21/46 cos(2 pi n / N).
#include "ops/op_list.h"
#include "ops/signal/cosine_window.h"

namespace assay {
namespace {

void eval(EvalContext& c) { eval_cosine_window(c, {25.0 / 46, 21.0 / 46, 0}); }

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

constinit const OpDef op_onnx_HammingWindow = {
    .domain = "",
    .name = "HammingWindow",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_cosine_window},
};

}  // namespace assay
