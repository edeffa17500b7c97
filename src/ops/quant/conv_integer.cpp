// ConvInteger: the convolution of 8-bit integers less their zero points, in 32 bits. Padding reads the zero
// point.
#include "ops/multiply_accumulates.h"
#include "ops/nn/conv_rules.h"
#include "ops/op_list.h"
#include "ops/quant/integer_operands.h"

namespace assay::op_onnx_ConvInteger {
namespace {

void infer(InferContext& c) { infer_conv(c, DType::kInt32, 0, 1); }

void eval(EvalContext& c) {
  const ConvPlan plan = plan_conv(c, c.shape(0), c.shape(1));
  const Tensor x = quantized_data(c, 0, 2), w = quantized_weights(c, 1, 3);
  Tensor sums = Tensor::allocate(DType::kFloat64, plan.output);
  kernels::convolve(plan.size, plan.window, x.data<double>(), w.data<double>(), nullptr,
                    sums.mutable_data<double>());
  c.set_output(0, to_int32(sums));
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  x: T1
in  w: T2
in  x_zero_point: T1 ?
in  w_zero_point: T2 ?
out y: T3
attr group: int = 1
attr pads: ints
attr strides: ints
attr dilations: ints
attr kernel_shape: ints
attr auto_pad: string = "NOTSET"
type T1: int8 uint8
type T2: int8 uint8
type T3: int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ConvInteger",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .product = ProductFact::kIntegers,
            .multiply_accumulates = conv_macs,
        },
};

}  // namespace assay::op_onnx_ConvInteger
