// Resize: samples the input at the coordinates of a finer or coarser grid. The grid comes from scales or
// sizes; opset 10 knows scales only.
#include <algorithm>
#include <cmath>

#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/resize_plan.h"
#include "tensor/convert.h"

namespace assay::op_onnx_Resize {
namespace {

size_t scales_input(const OpContext& c) { return c.since() < 11 ? 1 : 2; }
constexpr size_t kSizesInput = 3;

bool is_stretched(const OpContext& c) {
  return c.since() < 18 || c.attr_string("keep_aspect_ratio_policy") == "stretch";
}

void infer(InferContext& c) {
  if (c.since() >= 11) check_list(c, kSizesInput);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  const std::vector<size_t> axes = axes_or_all(c, in->size());
  Dims out = *in;
  for (const size_t axis : axes) out[axis] = Dim();
  const Tensor* scales = c.has_input(scales_input(c)) ? c.input_value(scales_input(c)) : nullptr;
  const Dims* sizes = c.since() >= 11 && c.has_input(kSizesInput) ? c.input_extents(kSizesInput) : nullptr;
  if (scales != nullptr && scales->numel() > 0) {
    c.check(scales->numel() == static_cast<int64_t>(axes.size()), "scales has {} entries for {} axes",
            scales->numel(), axes.size());
    const Tensor values = to_float64(*scales);
    for (size_t i = 0; i < axes.size(); ++i)
      out[axes[i]] = infer_scaled((*in)[axes[i]], values.data<double>()[i]);
  } else if (sizes != nullptr && !sizes->empty() && is_stretched(c)) {
    c.check(sizes->size() == axes.size(), "sizes has {} entries for {} axes", sizes->size(), axes.size());
    for (size_t i = 0; i < axes.size(); ++i) out[axes[i]] = (*sizes)[i];
  }
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// One of the names in the list, as its value; throws Error naming the attribute otherwise.
template <typename T>
T choose(const OpContext& c, const char* attribute,
         std::initializer_list<std::pair<std::string_view, T>> names) {
  const std::string& name = c.attr_string(attribute);
  for (const auto& [candidate, value] : names)
    if (candidate == name) return value;
  fail(ErrorCode::kInvalidModel, "the {} '{}' is unknown", attribute, name);
}

CoordinateMode coordinate_mode(const OpContext& c) {
  using Mode = CoordinateMode;
  const auto mode = choose<Mode>(c, "coordinate_transformation_mode",
                                 {{"half_pixel", Mode::kHalfPixel},
                                  {"half_pixel_symmetric", Mode::kHalfPixelSymmetric},
                                  {"pytorch_half_pixel", Mode::kPytorchHalfPixel},
                                  {"align_corners", Mode::kAlignCorners},
                                  {"asymmetric", Mode::kAsymmetric},
                                  {"tf_half_pixel_for_nn", Mode::kTfHalfPixelForNn},
                                  {"tf_crop_and_resize", Mode::kTfCropAndResize}});
  c.check(mode != Mode::kTfHalfPixelForNn || c.since() < 13, "tf_half_pixel_for_nn was removed in opset 13");
  c.check(mode != Mode::kHalfPixelSymmetric || c.since() >= 19, "half_pixel_symmetric came in opset 19");
  return mode;
}

/// Everything but the axes.
ResizePlan mode_plan(const OpContext& c) {
  ResizePlan plan;
  plan.interpolation = choose<Interpolation>(c, "mode",
                                             {{"nearest", Interpolation::kNearest},
                                              {"linear", Interpolation::kLinear},
                                              {"cubic", Interpolation::kCubic}});
  if (c.since() < 11) {
    c.check(plan.interpolation != Interpolation::kCubic, "the mode 'cubic' came in opset 11");
    plan.coordinates = CoordinateMode::kAsymmetric;
    plan.nearest = NearestMode::kByScale;
    return plan;
  }
  plan.coordinates = coordinate_mode(c);
  plan.nearest = choose<NearestMode>(c, "nearest_mode",
                                     {{"round_prefer_floor", NearestMode::kRoundPreferFloor},
                                      {"round_prefer_ceil", NearestMode::kRoundPreferCeil},
                                      {"floor", NearestMode::kFloor},
                                      {"ceil", NearestMode::kCeil}});
  plan.exclude_outside = c.attr_int("exclude_outside") != 0;
  plan.cubic_a = c.attr_float("cubic_coeff_a");
  plan.extrapolation_value = c.attr_float("extrapolation_value");
  plan.antialias = c.since() >= 18 && c.attr_int("antialias") != 0;
  c.check(!plan.antialias || plan.interpolation != Interpolation::kNearest,
          "nearest interpolation has no antialiasing");
  return plan;
}

/// One scale for all axes, so that the smallest (not_larger) or the largest (not_smaller) ratio fits.
void keep_aspect_ratio(const OpContext& c, ResizePlan& plan, const std::vector<size_t>& axes) {
  const bool smaller =
      choose<bool>(c, "keep_aspect_ratio_policy", {{"not_larger", true}, {"not_smaller", false}});
  ResizeAxis best = plan.axes[axes.front()];
  for (const size_t d : axes) {
    const ResizeAxis& a = plan.axes[d];
    if (smaller ? a.scale() < best.scale() : a.scale() > best.scale()) best = a;
  }
  for (const size_t d : axes) {
    ResizeAxis& a = plan.axes[d];
    a.scale_num = best.scale_num;
    a.scale_den = best.scale_den;
    a.width = static_cast<double>(a.in) * a.scale_num / a.scale_den;
    a.out = static_cast<int64_t>(std::floor(a.width + 0.5));
  }
}

void set_sizes(const EvalContext& c, ResizePlan& plan, const std::vector<size_t>& axes) {
  const std::vector<int64_t> sizes = integer_list(c, kSizesInput);
  c.check(sizes.size() == axes.size(), "sizes has {} entries for {} axes", sizes.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& a = plan.axes[axes[i]];
    c.check(sizes[i] >= 0 && sizes[i] < INT32_MAX, "the size {} of axis {} is out of range", sizes[i],
            axes[i]);
    c.check(a.in > 0 || sizes[i] == 0, "axis {} without elements cannot be resized to {}", axes[i], sizes[i]);
    a.out = sizes[i];
    a.width = a.scale_num = static_cast<double>(sizes[i]);
    a.scale_den = static_cast<double>(a.in);
  }
  if (!is_stretched(c) && !axes.empty()) keep_aspect_ratio(c, plan, axes);
}

void set_scales(const EvalContext& c, ResizePlan& plan, const std::vector<size_t>& axes) {
  const Tensor scales = to_float64(c.input(scales_input(c)));
  c.check(scales.numel() == static_cast<int64_t>(axes.size()), "scales has {} entries for {} axes",
          scales.numel(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    plan.axes[axes[i]] = axis_from_scale(plan.axes[axes[i]].in, scales.data<double>()[i]);
}

void set_roi(const EvalContext& c, ResizePlan& plan, const std::vector<size_t>& axes) {
  c.check(c.has_input(1) && c.input(1).numel() == 2 * static_cast<int64_t>(axes.size()),
          "tf_crop_and_resize needs a roi of {} numbers", 2 * axes.size());
  const Tensor roi = to_float64(c.input(1));
  const double* p = roi.data<double>();
  for (size_t i = 0; i < axes.size(); ++i) {
    const double start = p[i], end = p[axes.size() + i];
    c.check(std::isfinite(start) && std::isfinite(end), "the roi of axis {} is not finite", axes[i]);
    plan.axes[axes[i]].roi_start = start;
    plan.axes[axes[i]].roi_end = end;
  }
}

}  // namespace

}  // namespace assay::op_onnx_Resize

namespace assay {

ResizePlan plan_resize(const EvalContext& c) {
  using namespace op_onnx_Resize;
  ResizePlan plan = mode_plan(c);
  for (const int64_t d : c.shape(0))
    plan.axes.push_back({.in = d, .out = d, .width = static_cast<double>(d)});
  const std::vector<size_t> axes = axes_or_all(c, plan.axes.size());
  const auto given = [&](size_t i) { return c.has_input(i) && c.input(i).numel() > 0; };
  const bool by_sizes = c.since() >= 11 && given(kSizesInput), by_scales = given(scales_input(c));
  c.check(by_sizes != by_scales || axes.empty(), "exactly one of scales and sizes must be given");
  if (by_sizes) set_sizes(c, plan, axes);
  if (by_scales) set_scales(c, plan, axes);
  if (plan.coordinates == CoordinateMode::kTfCropAndResize) set_roi(c, plan, axes);
  return plan;
}

}  // namespace assay

namespace assay::op_onnx_Resize {
namespace {

void eval(EvalContext& c) { c.set_output(0, resize(c.input(0), plan_resize(c))); }

Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return resize_error_bound(c.input(0), plan_resize(c), u, y);
}

Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  return resize_expected_error(c.input(0), plan_resize(c), u, y);
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  X: T
in  scales: float
out Y: T
attr mode: string = "nearest"
type T: @all)",
     infer, eval},
    {11, R"(
in  X: T1
in  roi: T2
in  scales: float
in  sizes: int64 ?
out Y: T1
attr extrapolation_value: float = 0
attr exclude_outside: int = 0
attr nearest_mode: string = "round_prefer_floor"
attr coordinate_transformation_mode: string = "half_pixel"
attr cubic_coeff_a: float = -0.75
attr mode: string = "nearest"
type T1: @all
type T2: @float)",
     infer, eval},
    {13, R"(
in  X: T1
in  roi: T2 ?
in  scales: float ?
in  sizes: int64 ?
out Y: T1
attr extrapolation_value: float = 0
attr exclude_outside: int = 0
attr nearest_mode: string = "round_prefer_floor"
attr coordinate_transformation_mode: string = "half_pixel"
attr cubic_coeff_a: float = -0.75
attr mode: string = "nearest"
type T1: @all_ir4
type T2: @float)",
     infer, eval},
    {18, R"(
in  X: T1
in  roi: T2 ?
in  scales: float ?
in  sizes: int64 ?
out Y: T1
attr keep_aspect_ratio_policy: string = "stretch"
attr axes: ints
attr antialias: int = 0
attr extrapolation_value: float = 0
attr exclude_outside: int = 0
attr nearest_mode: string = "round_prefer_floor"
attr coordinate_transformation_mode: string = "half_pixel"
attr cubic_coeff_a: float = -0.75
attr mode: string = "nearest"
type T1: @all_ir4
type T2: @float)",
     infer, eval},
    {19, "same as Resize-18", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Resize",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 3}}},
            .size_input = 3,
            .may_grow = true,
        },
};

}  // namespace assay::op_onnx_Resize
