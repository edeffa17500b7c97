// QLinearConv: the convolution of quantized tensors, quantized: the integer sums with the bias times
// x_scale * w_scale / y_scale, rounded to nearest even, plus the zero point, saturated. The factor and its
// product are taken in float64.
#include "ops/eval_util.h"
#include "ops/multiply_accumulates.h"
#include "ops/nn/conv_rules.h"
#include "ops/op_list.h"
#include "ops/quant/integer_operands.h"
#include "ops/quant/quantize.h"
#include "tensor/convert.h"

namespace assay::op_onnx_QLinearConv {
namespace {

enum Input { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

void infer(InferContext& c) {
  infer_conv(c, c.input_dtype(kYZero), kX, kW);
  check_conv_bias(c, kW, kBias);
}

void eval(EvalContext& c) {
  const ConvPlan plan = plan_conv(c, c.shape(kX), c.shape(kW));
  const Tensor x = quantized_data(c, kX, kXZero), w = quantized_weights(c, kW, kWZero),
               scales = to_float64(c.input(kWScale));
  const int64_t channels = plan.size.out_channels, inner = plan.window.out_size();
  c.check(scales.numel() == 1 || scales.shape() == Shape{channels},
          "w_scale has shape {} for {} output channels", scales.shape().str(), channels);
  Tensor bias;
  if (c.has_input(kBias)) {
    bias = to_float64(c.input(kBias));
    c.check(bias.shape() == Shape{channels}, "the bias has shape {} for {} output channels",
            bias.shape().str(), channels);
  }
  Tensor sums = Tensor::allocate(DType::kFloat64, plan.output);
  double* p = sums.mutable_data<double>();
  kernels::convolve(plan.size, plan.window, x.data<double>(), w.data<double>(),
                    bias.defined() ? bias.data<double>() : nullptr, p);
  const double x_scale = scalar_parameter(c, kXScale), y_scale = scalar_parameter(c, kYScale),
               zero = scalar_parameter(c, kYZero);
  const DType to = c.input(kYZero).dtype();
  for (int64_t row = 0; row < plan.size.batch * channels; ++row) {
    const double factor = x_scale * scales.data<double>()[scales.numel() == 1 ? 0 : row % channels] / y_scale;
    for (int64_t i = row * inner; i < (row + 1) * inner; ++i) p[i] = level_of(p[i] * factor, zero, to);
  }
  c.set_output(0, store_quantized(sums, to));
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  x: T1
in  x_scale: float
in  x_zero_point: T1
in  w: T2
in  w_scale: float
in  w_zero_point: T2
in  y_scale: float
in  y_zero_point: T3
in  B: T4 ?
out y: T3
attr group: int = 1
attr pads: ints
attr strides: ints
attr dilations: ints
attr kernel_shape: ints
attr auto_pad: string = "NOTSET"
type T1: int8 uint8
type T2: int8 uint8
type T3: int8 uint8
type T4: int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "QLinearConv",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 6,
            .multiply_accumulates = q_linear_conv_macs,
        },
};

}  // namespace assay::op_onnx_QLinearConv
