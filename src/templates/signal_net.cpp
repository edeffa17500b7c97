#include "templates/signal_net.h"

#include <cmath>

#include "templates/layers.h"

namespace assay {
namespace {

AttributeList signal_attributes(const DepthwiseConv1d& spec) {
  using Ints = std::vector<int64_t>;
  return {{"dilations", Ints{spec.dilation}},
          {"group", spec.groups},
          {"kernel_shape", Ints{spec.kernel}},
          {"pads", Ints{spec.pad, spec.pad}},
          {"strides", Ints{spec.stride}}};
}

Value* convolved(TemplateBuilder& b, const Scope& s, std::string_view op_type, Value* x,
                 const DepthwiseConv1d& spec, const Shape& shape, double fan) {
  std::vector<Value*> inputs = {x, b.weight(s, "weight", shape, Init::normal(spec.gain / std::sqrt(fan)))};
  if (spec.bias) inputs.push_back(b.weight(s, "bias", {spec.outputs}, Init::normal(0.02)));
  return b.node(s, op_type, std::move(inputs), signal_attributes(spec));
}

}  // namespace

DepthwiseConv1d DepthwiseConv1d::same() const {
  DepthwiseConv1d spec = *this;
  spec.pad = dilation * (kernel - 1) / 2;
  return spec;
}

Value* depthwise_conv1d(TemplateBuilder& b, const Scope& s, Value* x, const DepthwiseConv1d& spec) {
  const int64_t per_group = spec.inputs / spec.groups;
  return convolved(b, s, "Conv", x, spec, {spec.outputs, per_group, spec.kernel},
                   static_cast<double>(per_group * spec.kernel));
}

Value* depthwise_conv1d_transpose(TemplateBuilder& b, const Scope& s, Value* x, const DepthwiseConv1d& spec) {
  const double taps = static_cast<double>(spec.kernel) / static_cast<double>(spec.stride);
  return convolved(b, s, "ConvTranspose", x, spec, {spec.inputs, spec.outputs, spec.kernel},
                   static_cast<double>(spec.inputs) * taps);
}

Value* group_norm(TemplateBuilder& b, const Scope& s, Value* x, int64_t channels, int64_t groups, int spatial,
                  float epsilon) {
  Value* ones = b.constant(s, Tensor::vector(std::vector<float>(static_cast<size_t>(groups), 1)));
  Value* zeros = b.constant(s, Tensor::vector(std::vector<float>(static_cast<size_t>(groups), 0)));
  Value* rows = reshape(b, s, x, {0, groups, -1});
  Value* normal = b.node(s, "InstanceNormalization", {rows, ones, zeros}, {{"epsilon", epsilon}});
  normal = b.node(s, "Reshape", {normal, b.node(s, "Shape", {x})});
  std::vector<int64_t> axes;
  for (int i = 1; i <= spatial; ++i) axes.push_back(i);
  Value* weight = unsqueeze(b, s, b.weight(s, "weight", {channels}, Init::normal(0.1, 1.0)), axes);
  Value* bias = unsqueeze(b, s, b.weight(s, "bias", {channels}, Init::normal(0.05)), axes);
  return b.node(s, "Add", {b.node(s, "Mul", {normal, weight}), bias});
}

Value* leaky(TemplateBuilder& b, const Scope& s, Value* x, float slope) {
  return b.node(s, "LeakyRelu", {x}, {{"alpha", slope}});
}

CellState lstm_cell(TemplateBuilder& b, const Scope& s, Value* x, const CellState& state, int64_t inputs,
                    int64_t hidden) {
  const auto gates = [&](Value* v, const char* weight, const char* bias, int64_t width) {
    return b.node(s, "Gemm",
                  {v, b.weight(s, weight, {4 * hidden, width}, Init::lecun_normal(width)),
                   b.weight(s, bias, {4 * hidden}, Init::normal(0.05))},
                  {{"alpha", 1.0F}, {"beta", 1.0F}, {"transB", int64_t{1}}});
  };
  Value* sum =
      b.node(s, "Add",
             {gates(x, "weight_ih", "bias_ih", inputs), gates(state.hidden, "weight_hh", "bias_hh", hidden)});
  const std::vector<Value*> parts = split(b, s, sum, 1, {hidden, hidden, hidden, hidden});
  Value* input = b.node(s, "Sigmoid", {parts[0]});
  Value* forget = b.node(s, "Sigmoid", {parts[1]});
  Value* candidate = b.node(s, "Tanh", {parts[2]});
  Value* output = b.node(s, "Sigmoid", {parts[3]});
  Value* cell =
      b.node(s, "Add", {b.node(s, "Mul", {forget, state.cell}), b.node(s, "Mul", {input, candidate})});
  return {b.node(s, "Mul", {output, b.node(s, "Tanh", {cell})}), cell};
}

}  // namespace assay
