// CausalConvWithState: a depthwise convolution over the past state (or zeros) followed by the input, so that
// each output depends only on earlier elements; then optionally x * sigmoid(x). The last k - 1 elements are
// the next state.
#include <cmath>

#include "kernels/conv.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_CausalConvWithState {
namespace {

enum Input { kData, kWeight, kBias, kPast };

bool has_swish(const OpContext& c) {
  const std::string& name = c.attr_string("activation");
  c.check(name == "none" || name == "silu" || name == "swish", "activation '{}' is none of none, silu, swish",
          name);
  return name != "none";
}

void infer(InferContext& c) {
  has_swish(c);
  const Dims *in = c.input_dims(kData), *weight = c.input_dims(kWeight);
  c.check(in == nullptr || in->size() == 3, "the input has {} dimensions where 3 are needed",
          in ? in->size() : 0);
  c.check(weight == nullptr || weight->size() == 3, "the weight has {} dimensions where 3 are needed",
          weight ? weight->size() : 0);
  c.set_output_type(0, c.input_type(kData));
  const Dim length = weight ? dim_sub((*weight)[2], Dim(1)) : Dim();
  c.set_output(1, c.input_dtype(kData), {in ? (*in)[0] : Dim(), in ? (*in)[1] : Dim(), length});
}

/// The state and the input one after the other, and how to convolve them.
struct Plan {
  kernels::ConvSize size;
  kernels::Window window;
  int64_t state;  ///< elements of a channel's state
  Tensor padded;
};

Plan make_plan(const EvalContext& c) {
  const Shape &in = c.shape(kData), &weight = c.shape(kWeight);
  c.check(in.size() == 3 && weight.size() == 3 && weight[0] == in[1] && weight[1] == 1 && weight[2] >= 1,
          "input {} and weight {} are not (batch, channels, length) and (channels, 1, taps)", in.str(),
          weight.str());
  Plan p{.size = {.batch = in[0], .groups = in[1], .in_channels = in[1], .out_channels = in[1]},
         .state = weight[2] - 1};
  if (c.has_input(kBias))
    c.check(c.shape(kBias) == Shape{in[1]}, "the bias has shape {} for {} channels", c.shape(kBias).str(),
            in[1]);
  if (c.has_input(kPast))
    c.check(c.shape(kPast) == (Shape{in[0], in[1], p.state}),
            "past_state has shape {} where ({}, {}, {}) is needed", c.shape(kPast).str(), in[0], in[1],
            p.state);
  const int64_t length = p.state + in[2];
  p.padded = Tensor::zeros(DType::kFloat64, {in[0], in[1], length});
  double* to = p.padded.mutable_data<double>();
  for (int64_t row = 0; row < in[0] * in[1]; ++row) {
    if (c.has_input(kPast))
      std::copy_n(c.input(kPast).data<double>() + row * p.state, p.state, to + row * length);
    std::copy_n(c.input(kData).data<double>() + row * in[2], in[2], to + row * length + p.state);
  }
  p.window = {.in = {length},
              .out = {in[2]},
              .kernel = {weight[2]},
              .strides = {1},
              .dilations = {1},
              .begin = {0},
              .end = {0}};
  return p;
}

Tensor convolve(const EvalContext& c, const Plan& p, const Tensor& x, const Tensor& w, const Tensor& bias) {
  Tensor y = Tensor::allocate(DType::kFloat64, c.shape(kData));
  kernels::convolve(p.size, p.window, x.data<double>(), w.data<double>(),
                    bias.defined() ? bias.data<double>() : nullptr, y.mutable_data<double>());
  return y;
}

Tensor bias_of(const EvalContext& c) { return c.has_input(kBias) ? c.input(kBias) : Tensor(); }

void eval(EvalContext& c) {
  const Plan p = make_plan(c);
  Tensor y = convolve(c, p, p.padded, c.input(kWeight), bias_of(c));
  if (has_swish(c)) y = map_elements<double>(y, [](double x) { return x / (1 + std::exp(-x)); });
  c.set_output(0, std::move(y));
  const int64_t length = p.window.in[0], rows = p.size.batch * p.size.groups;
  Tensor state = Tensor::allocate(DType::kFloat64, {p.size.batch, p.size.groups, p.state});
  for (int64_t row = 0; row < rows; ++row)
    std::copy_n(p.padded.data<double>() + (row + 1) * length - p.state, p.state,
                state.mutable_data<double>() + row * p.state);
  c.set_output(1, std::move(state));
}

/// (k + 2) u of the convolved magnitudes; x * sigmoid(x), whose slope is below 1.1, passes 1.1 of that on and
/// adds 6 u |y|.
Tensor bound(EvalContext& c, double u, size_t i, const Tensor& y) {
  if (i != 0) return {};
  const auto absolute = [](const Tensor& t) {
    return map_elements<double>(t, [](double x) { return std::fabs(x); });
  };
  const Plan p = make_plan(c);
  const Tensor bias = bias_of(c);
  const Tensor m =
      convolve(c, p, absolute(p.padded), absolute(c.input(kWeight)), bias.defined() ? absolute(bias) : bias);
  const double sum = u * static_cast<double>(p.state + 3), passed = has_swish(c) ? 1.1 * sum : sum;
  const double own = has_swish(c) ? 6 * u : 0;
  return map_broadcast<double>(
      m, y, [=](double magnitude, double v) { return passed * magnitude + own * std::fabs(v); });
}

constexpr OpVersion kVersions[] = {
    {27, R"(
in  input: T
in  weight: T
in  bias: T ?
in  past_state: T ?
out output: T
out present_state: T
attr activation: string = "none"
type T: float float16 bfloat16)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "CausalConvWithState",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_onnx_CausalConvWithState
