// Upsample: the forerunner of Resize: scales only, coordinates divided by the scale. Opset 1 scales height
// and width of images, opset 10 withdrew it.
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/resize_plan.h"
#include "tensor/convert.h"

namespace assay::op_onnx_Upsample {
namespace {

ResizePlan plan_of(const OpContext& c, const std::vector<int64_t>& in, const std::vector<double>& scales) {
  const std::string& mode = c.attr_string("mode");
  c.check(mode == "nearest" || mode == "linear", "the mode '{}' is unknown", mode);
  c.check(scales.size() == in.size(), "scales has {} entries for an input of rank {}", scales.size(),
          in.size());
  ResizePlan plan{.interpolation = mode == "linear" ? Interpolation::kLinear : Interpolation::kNearest,
                  .coordinates = CoordinateMode::kAsymmetric,
                  .nearest = NearestMode::kByScale};
  for (size_t d = 0; d < in.size(); ++d) plan.axes.push_back(axis_from_scale(in[d], scales[d]));
  return plan;
}

std::vector<double> numbers(const Tensor& scales) {
  const Tensor values = to_float64(scales);
  return {values.data<double>(), values.data<double>() + values.numel()};
}

/// Before opset 9 the scales are attributes.
std::vector<double> attribute_scales(const OpContext& c) {
  if (c.since() >= 7) return c.attr_floats("scales");
  return {1, 1, c.attr_float("height_scale"), c.attr_float("width_scale")};
}

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  Dims out(in->size());
  const Tensor* value = c.since() >= 9 ? c.input_value(1) : nullptr;
  if (c.since() < 9 || value != nullptr) {
    const std::vector<double> scales = value != nullptr ? numbers(*value) : attribute_scales(c);
    c.check(scales.size() == in->size(), "scales has {} entries for an input of rank {}", scales.size(),
            in->size());
    for (size_t d = 0; d < out.size(); ++d) out[d] = infer_scaled((*in)[d], scales[d]);
  }
  c.set_output(0, c.input_dtype(0), std::move(out));
}

}  // namespace

}  // namespace assay::op_onnx_Upsample

namespace assay {

ResizePlan plan_upsample(const EvalContext& c) {
  using namespace op_onnx_Upsample;
  return plan_of(c, c.shape(0).dims(), c.since() < 9 ? attribute_scales(c) : numbers(c.input(1)));
}

}  // namespace assay

namespace assay::op_onnx_Upsample {
namespace {

void eval(EvalContext& c) { c.set_output(0, resize(c.input(0), plan_upsample(c))); }

Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return resize_error_bound(c.input(0), plan_upsample(c), u, y);
}

Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  return resize_expected_error(c.input(0), plan_upsample(c), u, y);
}

void withdrawn(const OpContext& c) {
  fail(ErrorCode::kInvalidModel, "{} was withdrawn in opset {}; use Resize", c.op().name, c.since());
}
void infer_withdrawn(InferContext& c) { withdrawn(c); }
void eval_withdrawn(EvalContext& c) { withdrawn(c); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr mode: string = "nearest"
attr height_scale: float required
attr width_scale: float required
type T: @float bool int32 int64)",
     infer, eval},
    {7, R"(
in  X: T
out Y: T
attr mode: string = "nearest"
attr scales: floats required
type T: @all)",
     infer, eval},
    {9, "same as Resize-10", infer, eval},
    {10, "same as Resize-10", infer_withdrawn, eval_withdrawn},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Upsample",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1}}},
            .may_grow = true,
        },
};

}  // namespace assay::op_onnx_Upsample
