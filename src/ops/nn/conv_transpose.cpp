// ConvTranspose: the transpose of Conv: every input element adds its weighted kernel to the output.
#include "kernels/conv.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/multiply_accumulates.h"
#include "ops/nn/conv_rules.h"
#include "ops/nn/window.h"
#include "ops/op_list.h"

namespace assay::op_onnx_ConvTranspose {
namespace {

using AutoPad = WindowAttributes::AutoPad;

/// The attributes, one entry per spatial axis.
struct Attributes {
  WindowAttributes window;
  std::vector<int64_t> output_padding;
  std::vector<int64_t> output_shape;  ///< empty: not given
};

Attributes read_attributes(const OpContext& c, size_t rank, std::vector<int64_t> kernel) {
  Attributes a{.window = read_window(c, rank, std::move(kernel)),
               .output_padding = window_ints(c, "output_padding", rank, 0, 0)};
  if (c.has_attr("output_shape")) a.output_shape = window_ints(c, "output_shape", rank, 0, 0);
  return a;
}

/// stride * (in - 1) + output padding + reach - pads: the extent before padding is chosen, for pads of 0.
Dim extent_without(const Attributes& a, size_t i, const Dim& in, int64_t pads) {
  const int64_t reach = (a.window.kernel[i] - 1) * a.window.dilations[i] + 1;
  const int64_t rest = a.output_padding[i] + reach - a.window.strides[i] - pads;
  const Dim scaled = dim_mul(Dim(a.window.strides[i]), in);
  if (!scaled.is_known() || scaled.value() + rest >= 0)
    return rest < 0 ? dim_sub(scaled, Dim(-rest)) : dim_add(scaled, Dim(rest));
  fail(ErrorCode::kInvalidModel, "pads {} and {} take more than the extent of {} that there is",
       a.window.begin[i], a.window.end[i], scaled.value() + rest + pads);
}

Dim output_extent(const Attributes& a, size_t i, const Dim& in) {
  if (!a.output_shape.empty()) return Dim(a.output_shape[i]);
  if (a.window.auto_pad == AutoPad::kSameUpper || a.window.auto_pad == AutoPad::kSameLower)
    return dim_mul(Dim(a.window.strides[i]), in);
  if (a.window.kernel.empty()) return {};
  return extent_without(a, i, in, a.window.begin[i] + a.window.end[i]);
}

void infer(InferContext& c) {
  const Dims *x = c.input_dims(0), *w = c.input_dims(1);
  if (x == nullptr) return c.set_output(0, c.input_dtype(0));
  c.check(x->size() >= 3, "the input has {} dimensions; it needs batch, channels and at least one more",
          x->size());
  Dim channels;
  std::vector<int64_t> kernel;
  if (w != nullptr) {
    c.check(w->size() == x->size(), "the input has {} dimensions, the weights {}", x->size(), w->size());
    const Dim &in = (*x)[1], &taken = (*w)[0];
    c.check(!in.is_known() || !taken.is_known() || in.value() == taken.value(),
            "the input has {} channels, but the weights take {}", in.str(), taken.str());
    channels = dim_mul((*w)[1], Dim(read_group(c, taken.value(), -1)));
    kernel = known_kernel(*w);
  }
  const Attributes a = read_attributes(c, x->size() - 2, std::move(kernel));
  Dims out = {(*x)[0], channels};
  for (size_t i = 2; i < x->size(); ++i) out.push_back(output_extent(a, i - 2, (*x)[i]));
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// The window that slides over the output; its positions are the input's elements.
kernels::Window make_window(const OpContext& c, const Attributes& a, const Shape& spatial) {
  kernels::Window w{.out = spatial.dims(),
                    .kernel = a.window.kernel,
                    .strides = a.window.strides,
                    .dilations = a.window.dilations,
                    .begin = a.window.begin,
                    .end = a.window.end};
  for (size_t i = 0; i < spatial.size(); ++i) {
    const Dim out = output_extent(a, i, Dim(spatial[i])), full = extent_without(a, i, Dim(spatial[i]), 0);
    c.check(out.is_known() && full.is_known(), "the output of an extent of {} at stride {} is too large",
            spatial[i], a.window.strides[i]);
    w.in.push_back(out.value());
    if (a.output_shape.empty() && a.window.auto_pad != AutoPad::kSameUpper &&
        a.window.auto_pad != AutoPad::kSameLower)
      continue;
    const int64_t total = std::max<int64_t>(0, full.value() - out.value());
    w.begin[i] = a.window.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    w.end[i] = total - w.begin[i];
  }
  return w;
}

void eval(EvalContext& c) {
  const ConvPlan plan = plan_conv_transpose(c, c.shape(0), c.shape(1));
  const kernels::ConvSize& size = plan.size;
  Tensor y = Tensor::allocate(DType::kFloat64, plan.output);
  kernels::convolve_transposed(size, plan.window, c.input(0).data<double>(), c.input(1).data<double>(),
                               conv_bias(c, 2, size.out_channels), y.mutable_data<double>());
  c.set_output(0, std::move(y));
}

/// At most one product per channel and tap for an output element, and the bias.
int64_t terms(EvalContext& c) {
  return c.shape(0)[1] / c.attr_int("group") * spatial_shape(c.shape(1)).numel() + 1;
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  W: T
in  B: T ?
out Y: T
attr group: int = 1
attr auto_pad: string = "NOTSET"
attr strides: ints
attr pads: ints
attr output_padding: ints
attr dilations: ints
attr output_shape: ints
attr kernel_shape: ints
type T: @float)",
     infer, eval},
    {11, "same as ConvTranspose-1", infer, eval},
    {22, R"(
in  X: T
in  W: T
in  B: T ?
out Y: T
attr group: int = 1
attr auto_pad: string = "NOTSET"
attr strides: ints
attr pads: ints
attr output_padding: ints
attr dilations: ints
attr output_shape: ints
attr kernel_shape: ints
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ConvTranspose",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms},
    .facts =
        {
            .product = ProductFact::kFloats,
            .sums = SumsFact::kProducts,
            .multiply_accumulates = conv_transpose_macs,
        },
};

}  // namespace assay::op_onnx_ConvTranspose

namespace assay {

ConvPlan plan_conv_transpose(const OpContext& c, const Shape& x, const Shape& w) {
  namespace op = op_onnx_ConvTranspose;
  c.check(x.size() >= 3 && w.size() == x.size(), "the input has shape {}, the weights {}", x.str(), w.str());
  c.check(w[0] == x[1], "the input has {} channels, but the weights take {}", x[1], w[0]);
  const int64_t groups = read_group(c, x[1], -1);
  ConvPlan plan{.size = {.batch = x[0], .groups = groups, .in_channels = x[1], .out_channels = w[1] * groups},
                .window = op::make_window(c, op::read_attributes(c, x.size() - 2, spatial_shape(w).dims()),
                                          spatial_shape(x)),
                .output = {x[0], w[1] * groups}};
  for (const int64_t extent : plan.window.in) plan.output.push_back(extent);
  return plan;
}

}  // namespace assay
