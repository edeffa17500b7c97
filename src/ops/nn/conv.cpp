// Conv: cross-correlation over any number of spatial axes, with groups, strides, dilations and padding.
#include "kernels/conv.h"

#include <cmath>

#include "ops/eval_util.h"
#include "ops/multiply_accumulates.h"
#include "ops/nn/conv_rules.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Conv {
namespace {

void infer(InferContext& c) {
  infer_conv(c, c.input_dtype(0), 0, 1);
  check_conv_bias(c, 1, 2);
}

void eval(EvalContext& c) {
  const ConvPlan plan = plan_conv(c, c.shape(0), c.shape(1));
  Tensor y = Tensor::allocate(DType::kFloat64, plan.output);
  kernels::convolve(plan.size, plan.window, c.input(0).data<double>(), c.input(1).data<double>(),
                    conv_bias(c, 2, plan.size.out_channels), y.mutable_data<double>());
  c.set_output(0, std::move(y));
}

bool rough(EvalContext& c, kernels::ApproxOf what) {
  const ConvPlan plan = plan_conv(c, c.shape(0), c.shape(1));
  Tensor y = Tensor::allocate(DType::kFloat64, plan.output);
  auto* out = y.mutable_data<double>();
  if (!kernels::approx_convolve(what, plan.size, plan.window, c.input(0).data<double>(),
                                c.input(1).data<double>(), out))
    return false;
  const double* bias =
      what == kernels::ApproxOf::kMagnitudes ? conv_bias(c, 2, plan.size.out_channels) : nullptr;
  const int64_t image = plan.window.out_size();
  for (int64_t i = 0; bias != nullptr && i < plan.size.batch * plan.size.out_channels; ++i) {
    const double size = std::abs(bias[i % plan.size.out_channels]);
    for (int64_t j = 0; j < image; ++j) out[i * image + j] += size;
  }
  c.set_output(0, std::move(y));
  return true;
}

bool stacks(const EvalContext&) { return true; }

/// Products per output element, and the bias.
int64_t terms(EvalContext& c) { return c.shape(1).numel(1, c.shape(1).size()) + 1; }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  W: T
in  B: T ?
out Y: T
attr group: int = 1
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr dilations: ints
attr kernel_shape: ints
type T: @float)",
     infer, eval},
    {11, "same as Conv-1", infer, eval},
    {22, R"(
in  X: T
in  W: T
in  B: T ?
out Y: T
attr group: int = 1
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr dilations: ints
attr kernel_shape: ints
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Conv",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms, .rough = rough, .stacks = stacks},
    .facts =
        {
            .product = ProductFact::kFloats,
            .sums = SumsFact::kProducts,
            .multiply_accumulates = conv_macs,
        },
};

}  // namespace assay::op_onnx_Conv
