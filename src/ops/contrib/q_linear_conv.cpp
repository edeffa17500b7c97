// QLinearConv: the standard's, with channels second or last; the weights always are [M, C, kernel...].
#include "ops/contrib/channels_last.h"
#include "ops/nn/conv_rules.h"
#include "ops/op_list.h"
#include "ops/op_set.h"

namespace assay::op_ms_QLinearConv {
namespace {

constexpr size_t kX = 0, kW = 3, kYZero = 7, kBias = 8;

void infer_channels_second(InferContext& c) {
  infer_conv(c, c.input_dtype(kYZero), kX, kW);
  check_conv_bias(c, kW, kBias);
}

void infer(InferContext& c) {
  if (has_channels_last(c))
    infer_channels_last(c, infer_channels_second);
  else
    infer_channels_second(c);
}

void eval(EvalContext& c) {
  const auto standard = version_for(op_onnx_QLinearConv::def, 10)->eval;
  if (has_channels_last(c))
    eval_channels_last(c, standard);
  else
    standard(c);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
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
attr channels_last: int = 0
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
    .domain = "com.microsoft",
    .name = "QLinearConv",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 6,
        },
};

}  // namespace assay::op_ms_QLinearConv
