#include "templates/conv_net.h"

#include <cmath>

#include "templates/layers.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

constexpr Init kSmallBias = Init::normal(0.05);

/// x with another value and other moments, without an activation function.
Feature shaped(const Feature& x, Value* value, ChannelMoments moments) {
  Feature y{value, x.channels, x.height, x.width, moments, moments};
  return y;
}

Feature activated(const Feature& x, Value* value, double (*f)(double)) {
  Feature y{value, x.channels, x.height, x.width, activation_moments(x.moments, f), x.moments, f};
  return y;
}

AttributeList conv_attributes(const ConvSpec& spec) {
  const Window rows = spec.rows(), columns = spec.columns();
  return {{"dilations", Ints{spec.dilation, spec.dilation}},
          {"group", spec.groups},
          {"kernel_shape", Ints{rows.kernel, columns.kernel}},
          {"pads", Ints{rows.pad, columns.pad, rows.pad, columns.pad}},
          {"strides", Ints{rows.stride, columns.stride}}};
}

Shape conv_weight_shape(const Feature& x, const ConvSpec& spec) {
  return {spec.outputs, x.channels / spec.groups, spec.kernel, spec.columns().kernel};
}

int64_t fan_in(const Shape& weights) { return weights.numel(1, weights.size()); }

/// Adds the Conv node for weights and bias (undefined: none).
Feature convolve(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec, Tensor weights,
                 Tensor bias, ChannelMoments moments) {
  std::vector<Value*> inputs = {x.value, b.add_weight(s, "weight", std::move(weights))};
  if (bias.defined()) inputs.push_back(b.add_weight(s, "bias", std::move(bias)));
  Value* y = b.node(s, "Conv", std::move(inputs), conv_attributes(spec));
  return {y,       spec.outputs, spec.rows().output_extent(x.height), spec.columns().output_extent(x.width),
          moments, moments};
}

}  // namespace

Feature image_input(TemplateBuilder& b, std::string name, int64_t channels, int64_t height, int64_t width) {
  Value* v = b.input(std::move(name), DType::kFloat32, {b.batch(), channels, height, width});
  ChannelMoments moments = b.has_weights() ? ChannelMoments::uniform_unit(channels) : ChannelMoments{};
  return {v, channels, height, width, moments, moments};
}

Feature conv(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec, const Init& init,
             const Init& bias_init) {
  Tensor weights = b.draw(s, "weight", conv_weight_shape(x, spec), init);
  Tensor bias = spec.bias ? b.draw(s, "bias", {spec.outputs}, bias_init) : Tensor();
  ChannelMoments moments =
      conv_moments(x.moments, weights, bias, spec.rows(), spec.columns(), spec.groups, x.height, x.width);
  return convolve(b, s, x, spec, std::move(weights), std::move(bias), std::move(moments));
}

Feature conv(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec) {
  return conv(b, s, x, spec, Init::he_normal(fan_in(conv_weight_shape(x, spec))), kSmallBias);
}

namespace {

/// A transposed convolution of stride 2 that doubles the extents, an output seeing about `seen` taps per
/// channel.
Feature doubled(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t kernel,
                double seen, AttributeList attributes) {
  const auto fan = static_cast<int64_t>(seen * static_cast<double>(x.channels));
  Tensor weights = b.draw(s, "weight", {x.channels, outputs, kernel, kernel}, Init::he_normal(fan));
  Tensor bias = b.draw(s, "bias", {outputs}, kSmallBias);
  ChannelMoments moments = conv_transpose_moments(x.moments, weights, bias);
  for (float& v : moments.variance) v *= static_cast<float>(seen);
  attributes.insert(attributes.begin(), {{"dilations", Ints{1, 1}},
                                         {"group", int64_t{1}},
                                         {"kernel_shape", Ints(2, kernel)},
                                         {"strides", Ints{2, 2}}});
  Value* y = b.node(
      s, "ConvTranspose",
      {x.value, b.add_weight(s, "weight", std::move(weights)), b.add_weight(s, "bias", std::move(bias))},
      std::move(attributes));
  return {y, outputs, 2 * x.height, 2 * x.width, moments, moments};
}

}  // namespace

Feature conv_transpose_2x(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs) {
  return doubled(b, s, x, outputs, 2, 1, {{"pads", Ints{0, 0, 0, 0}}});
}

Feature conv_transpose_3x3(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs) {
  return doubled(b, s, x, outputs, 3, 2.25, {{"output_padding", Ints{1, 1}}, {"pads", Ints{1, 1, 1, 1}}});
}

namespace {

/// Scale, shift, mean and variance of a batch normalization, and its result.
struct NormParameters {
  Tensor scale, shift, mean, variance;
  ChannelMoments result;
};

NormParameters norm_parameters(const TemplateBuilder& b, const Scope& s, const ChannelMoments& x,
                               int64_t channels, const NormSpec& spec) {
  NormParameters p;
  p.scale = b.draw(s, "weight", {channels}, Init::normal(0.1 * spec.scale, spec.scale));
  p.shift = b.draw(s, "bias", {channels}, Init::normal(0.1, spec.shift));
  if (x.empty()) {
    p.mean = p.variance = weights_without_memory({channels});
    return p;
  }
  p.mean = Tensor::vector(x.mean);
  p.variance = Tensor::vector(x.variance);
  for (int64_t c = 0; c < channels; ++c) {
    const float gain = p.scale.data<float>()[c];
    p.result.mean.push_back(p.shift.data<float>()[c]);
    p.result.variance.push_back(gain * gain);
  }
  return p;
}

}  // namespace

Feature batch_norm(TemplateBuilder& b, const Scope& s, const Feature& x, const NormSpec& spec) {
  NormParameters p = norm_parameters(b, s, x.moments, x.channels, spec);
  AttributeList attributes = {{"epsilon", static_cast<float>(spec.epsilon)}, {"momentum", 0.9F}};
  if (b.opset() >= 14) attributes.emplace_back("training_mode", int64_t{0});
  Value* y = b.node(s, "BatchNormalization",
                    {x.value, b.add_weight(s, "weight", p.scale), b.add_weight(s, "bias", p.shift),
                     b.add_weight(s, "running_mean", p.mean), b.add_weight(s, "running_var", p.variance)},
                    std::move(attributes));
  return shaped(x, y, std::move(p.result));
}

Feature conv_with_folded_norm(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec,
                              const NormSpec& norm) {
  const Shape shape = conv_weight_shape(x, spec);
  Tensor weights = b.draw(s, "weight", shape, Init::he_normal(fan_in(shape)));
  const ChannelMoments raw =
      conv_moments(x.moments, weights, {}, spec.rows(), spec.columns(), spec.groups, x.height, x.width);
  NormParameters p = norm_parameters(b, s.child("bn"), raw, spec.outputs, norm);
  Tensor bias = std::move(p.shift);
  if (b.has_weights()) {
    float* w = weights.mutable_data<float>();
    const int64_t taps = fan_in(shape);
    float* shift = bias.mutable_data<float>();
    for (size_t m = 0; m < raw.mean.size(); ++m) {
      const double deviation = std::sqrt(raw.variance[m] + norm.epsilon);
      const auto factor = static_cast<float>(p.scale.data<float>()[m] / deviation);
      for (int64_t i = 0; i < taps; ++i) *w++ *= factor;
      shift[m] = static_cast<float>(shift[m] - double{factor} * raw.mean[m]);
    }
  }
  return convolve(b, s, x, spec, std::move(weights), std::move(bias), std::move(p.result));
}

Feature conv_norm(TemplateBuilder& b, const Scope& s, const Scope& norm_scope, const Feature& x,
                  const ConvSpec& spec, const NormSpec& norm) {
  if (b.style().folds_norms) return conv_with_folded_norm(b, s, x, spec, norm);
  return batch_norm(b, norm_scope, conv(b, s, x, spec), norm);
}

namespace {

Feature hard_swished(TemplateBuilder& b, const Scope& s, const Feature& x, bool by_clip) {
  if (by_clip) {
    Value* shifted = b.node(s, "Add", {x.value, b.scalar(s, 3)});
    Value* clipped = b.node(s, "Clip", {shifted, b.scalar(s, 0), b.scalar(s, 6)});
    Value* product = b.node(s, "Mul", {x.value, clipped});
    return activated(x, b.node(s, "Div", {product, b.scalar(s, 6)}), hard_swish);
  }
  if (b.opset() >= 14) return activated(x, b.node(s, "HardSwish", {x.value}), hard_swish);
  Value* factor = b.node(s, "HardSigmoid", {x.value}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}});
  return activated(x, b.node(s, "Mul", {x.value, factor}), hard_swish);
}

}  // namespace

Feature activate(TemplateBuilder& b, const Scope& s, const Feature& x, Nonlinearity f) {
  switch (f) {
    case Nonlinearity::kNone:
      return x;
    case Nonlinearity::kRelu:
      return relu(b, s, x);
    case Nonlinearity::kRelu6:
      return relu6(b, s, x);
    case Nonlinearity::kSilu:
      return silu(b, s, x);
    case Nonlinearity::kHardSwish:
      return hard_swished(b, s, x, false);
    case Nonlinearity::kClipSwish:
      return hard_swished(b, s, x, true);
    case Nonlinearity::kSigmoid:
      return activated(x, b.node(s, "Sigmoid", {x.value}), logistic_function);
    case Nonlinearity::kHardSigmoid:
      return activated(x, b.node(s, "HardSigmoid", {x.value}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}}),
                       hard_sigmoid);
    case Nonlinearity::kLeakyRelu:
      return activated(x, b.node(s, "LeakyRelu", {x.value}, {{"alpha", 0.01F}}), leaky_relu);
    case Nonlinearity::kGelu:
      return activated(x, gelu(b, s, x.value), gelu_function);
    case Nonlinearity::kClip20:
      return activated(x, b.node(s, "Clip", {x.value, b.scalar(s, 0), b.scalar(s, 20)}), relu);
    case Nonlinearity::kTanh:
      return activated(x, b.node(s, "Tanh", {x.value}), tanh_function);
  }
  return x;
}

Feature relu(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return activated(x, b.node(s, "Relu", {x.value}), relu);
}

Feature relu6(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return activated(x, b.node(s, "Clip", {x.value, b.scalar(s, 0), b.scalar(s, 6)}), relu6);
}

Feature silu(TemplateBuilder& b, const Scope& s, const Feature& x) {
  Value* gate = b.node(s, "Sigmoid", {x.value});
  return activated(x, b.node(s, "Mul", {x.value, gate}), silu);
}

Feature add(TemplateBuilder& b, const Scope& s, const Feature& x, const Feature& y) {
  return shaped(x, b.node(s, "Add", {x.value, y.value}), sum_moments(x.moments, y.moments));
}

Feature concat(TemplateBuilder& b, const Scope& s, const std::vector<Feature>& parts) {
  std::vector<Value*> values;
  std::vector<const ChannelMoments*> moments;
  Feature y = parts.front();
  y.channels = 0;
  for (const Feature& p : parts) {
    values.push_back(p.value);
    moments.push_back(&p.moments);
    y.channels += p.channels;
  }
  return shaped(y, b.node(s, "Concat", std::move(values), {{"axis", int64_t{1}}}), concat_moments(moments));
}

namespace {

/// Channels first to last of x, with the value v.
Feature channels_of(const Feature& x, Value* v, int64_t first, int64_t last) {
  const auto cut = [&](const std::vector<float>& all) {
    return all.empty() ? all : std::vector<float>(all.begin() + first, all.begin() + last);
  };
  Feature part = x;
  part.value = v;
  part.channels = last - first;
  part.moments = {cut(x.moments.mean), cut(x.moments.variance)};
  part.before_activation = {cut(x.before_activation.mean), cut(x.before_activation.variance)};
  return part;
}

}  // namespace

std::vector<Feature> split_channels(TemplateBuilder& b, const Scope& s, const Feature& x, int parts) {
  const int64_t width = x.channels / parts;
  const std::vector<Value*> values = split(b, s, x.value, 1, Ints(static_cast<size_t>(parts), width));
  std::vector<Feature> result;
  for (int64_t i = 0; i < parts; ++i)
    result.push_back(channels_of(x, values[static_cast<size_t>(i)], i * width, (i + 1) * width));
  return result;
}

Feature slice_channels(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t first, int64_t last) {
  return channels_of(x, slice(b, s, x.value, 1, first, last), first, last);
}

Feature average_pool(TemplateBuilder& b, const Scope& s, const Feature& x, const Window& window,
                     bool counts_padding) {
  Value* v = b.node(s, "AveragePool", {x.value},
                    {{"ceil_mode", int64_t{0}},
                     {"count_include_pad", int64_t{counts_padding}},
                     {"kernel_shape", Ints(2, window.kernel)},
                     {"pads", Ints(4, window.pad)},
                     {"strides", Ints(2, window.stride)}});
  Feature y = shaped(x, v, average_moments(x.moments, static_cast<double>(window.kernel * window.kernel)));
  y.height = window.output_extent(x.height);
  y.width = window.output_extent(x.width);
  return y;
}

namespace {

Feature pooled(const Feature& x, Value* v) {
  Feature y = shaped(x, v, {x.moments.mean, std::vector<float>(x.moments.mean.size(), 0.0F)});
  y.height = y.width = 1;
  return y;
}

}  // namespace

Feature global_pool(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return pooled(x, b.node(s, "GlobalAveragePool", {x.value}));
}

Feature gate(TemplateBuilder& b, const Scope& s, const Feature& x, const Feature& factors) {
  return shaped(x, b.node(s, "Mul", {factors.value, x.value}), gated_moments(x.moments, factors.moments));
}

Feature squeeze_excite(TemplateBuilder& b, const Scope& s, const Feature& x, const SqueezeExcite& spec) {
  Feature y = spec.reduce_mean ? pooled(x, reduce_mean(b, s, x.value, {2, 3}))
                               : global_pool(b, s.child("avgpool"), x);
  y = activate(b, s.child("activation"),
               conv(b, s.child(spec.reduce), y, {.outputs = spec.channels, .bias = true}), spec.inner);
  y = conv(b, s.child(spec.expand), y, {.outputs = x.channels, .bias = true});
  return gate(b, s, x, activate(b, s.child("scale_activation"), y, spec.outer));
}

Feature max_pool(TemplateBuilder& b, const Scope& s, const Feature& x, const Window& window, int64_t reach) {
  Feature y = x;
  y.height = window.output_extent(x.height);
  y.width = window.output_extent(x.width);
  y.value = b.node(s, "MaxPool", {x.value},
                   {{"ceil_mode", int64_t{window.ceil_mode}},
                    {"dilations", Ints{1, 1}},
                    {"kernel_shape", Ints(2, window.kernel)},
                    {"pads", Ints(4, window.pad)},
                    {"strides", Ints(2, window.stride)}});
  const int64_t seen = reach == 0 ? window.kernel : reach;
  y.moments = max_moments(x.before_activation, static_cast<int>(seen * seen), x.activation);
  return y;
}

Feature upsample_2x(TemplateBuilder& b, const Scope& s, const Feature& x) {
  // Until opset 12 the input `roi` was not optional.
  Value* roi = b.opset() < 13 ? b.constant(s, Tensor::vector(std::vector<float>{})) : nullptr;
  Value* scales = b.constant(s, Tensor::vector(std::vector<float>{1, 1, 2, 2}));
  Feature y = x;
  y.value = b.node(s, "Resize", {x.value, roi, scales},
                   {{"coordinate_transformation_mode", std::string("asymmetric")},
                    {"mode", std::string("nearest")},
                    {"nearest_mode", std::string("floor")}});
  y.height *= 2;
  y.width *= 2;
  return y;
}

Feature resize_bilinear(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t height, int64_t width) {
  const auto factor = [](int64_t to, int64_t from) {
    return static_cast<float>(to) / static_cast<float>(from);
  };
  Value* roi = b.opset() < 13 ? b.constant(s, Tensor::vector(std::vector<float>{})) : nullptr;
  Value* scales = b.constant(
      s, Tensor::vector(std::vector<float>{1, 1, factor(height, x.height), factor(width, x.width)}));
  Feature y = x;
  y.value = b.node(
      s, "Resize", {x.value, roi, scales},
      {{"coordinate_transformation_mode", std::string("half_pixel")}, {"mode", std::string("linear")}});
  y.height = height;
  y.width = width;
  return y;
}

Value* global_average(TemplateBuilder& b, const Scope& pool, const Scope& flatten, const Feature& x) {
  Value* mean = b.node(pool, "GlobalAveragePool", {x.value});
  return b.node(flatten, "Flatten", {mean}, {{"axis", int64_t{1}}});
}

Value* fully_connected(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs,
                       const Init& init) {
  return b.node(
      s, "Gemm",
      {x, b.weight(s, "weight", {outputs, inputs}, init), b.weight(s, "bias", {outputs}, Init::normal(0.02))},
      {{"alpha", 1.0F}, {"beta", 1.0F}, {"transB", int64_t{1}}});
}

}  // namespace assay
