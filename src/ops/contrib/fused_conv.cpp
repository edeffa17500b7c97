// FusedConv: the activation of the convolution of X with W plus the bias B plus Z.
#include <algorithm>
#include <cmath>

#include "ops/contrib/fused_activation.h"
#include "ops/eval_util.h"
#include "ops/nn/conv_rules.h"
#include "ops/op_list.h"
#include "ops/op_set.h"

namespace assay::op_ms_FusedConv {
namespace {

std::string activation(const OpContext& c) {
  return c.has_attr("activation") ? c.attr_string("activation") : "";
}

void infer(InferContext& c) {
  check_activation(activation(c));
  infer_conv(c, c.input_dtype(0), 0, 1);
  check_conv_bias(c, 1, 2);
}

/// Conv's result for the inputs or, for `magnitudes`, of their magnitudes.
Tensor convolution(const EvalContext& c, bool magnitudes) {
  std::vector<Tensor> inputs(c.inputs().begin(), c.inputs().begin() + std::min<size_t>(3, c.inputs().size()));
  for (Tensor& t : inputs)
    if (magnitudes && t.defined()) t = map_elements<double>(t, [](double x) { return std::fabs(x); });
  EvalContext inner(c.node(), op_onnx_Conv::def, c.version(), std::move(inputs));
  version_for(op_onnx_Conv::def, 11)->eval(inner);
  return inner.outputs()[0];
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const auto terms = static_cast<double>(c.shape(1).numel(1, c.shape(1).size()) + 1);
  const Tensor y = convolution(c, false);
  Traced sum = steps.accumulated(
      y, [&] { return convolution(c, true); }, terms);
  if (c.has_input(3)) {
    c.check(c.shape(3) == y.shape(), "Z has shape {}, the result {}", c.shape(3).str(), y.shape().str());
    sum = steps.add(sum, steps.given(c.input(3)));
  }
  const std::vector<double> parameters = c.attr_floats("activation_params");
  outputs[0] = activate(steps, sum, activation(c), parameters);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  W: T
in  B: T ?
in  Z: T ?
out Y: T
attr activation: string
attr group: int = 1
attr activation_params: floats
attr pads: ints
attr strides: ints
attr dilations: ints
attr kernel_shape: ints
attr auto_pad: string = "NOTSET"
type T: @float)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "FusedConv",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_FusedConv
