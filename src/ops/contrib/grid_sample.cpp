// GridSample: the standard's of opset 16, with bilinear, nearest and bicubic modes; bicubic pads the elements
// that it combines, not the position.
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/op_set.h"

namespace assay::op_ms_GridSample {
namespace {

const OpVersion& standard() { return *version_for(op_onnx_GridSample::def, 16); }

/// The schema allows any type, but does not define a sum of weighted integers.
void infer(InferContext& c) {
  const DType dtype = c.input_dtype(0);
  c.check(dtype == DType::kUndefined || is_float(dtype), "an image of {} cannot be sampled",
          dtype_name(dtype));
  standard().infer(c);
}
void eval(EvalContext& c) {
  c.check(c.input(0).dtype() == DType::kFloat64 && c.input(1).dtype() == DType::kFloat64,
          "an image of {} cannot be sampled at places of {}", dtype_name(c.input(0).dtype()),
          dtype_name(c.input(1).dtype()));
  standard().eval(c);
}

Tensor bound(EvalContext& c, double u, size_t i, const Tensor& y) {
  return op_onnx_GridSample::def.numerics.bound(c, u, i, y);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
in  Grid: T1
out Y: T2
attr align_corners: int = 0
attr padding_mode: string = "zeros"
attr mode: string = "bilinear"
type T1: @all
type T2: @float)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "GridSample",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .compares =
                {{{.reach = ComparisonFact::Reach::kAll, .first = 1, .count = 1, .infinities = true}}},
        },
};

}  // namespace assay::op_ms_GridSample
