#include "ops/nn/conv_rules.h"

#include "ops/nn/window.h"

namespace assay {
namespace {

void check_channels(const OpContext& c, const Dim& data, const Dim& weights) {
  const int64_t in = data.is_known() ? data.value() : -1;
  const int64_t group = read_group(c, in, -1);
  c.check(in < 0 || !weights.is_known() || weights.value() * group == in,
          "the input has {} channels, but the weights take {} in each of {} groups", in, weights.value(),
          group);
}

}  // namespace

int64_t read_group(const OpContext& c, int64_t in_channels, int64_t out_channels) {
  const int64_t group = c.attr_int("group");
  c.check(group >= 1 && group <= INT32_MAX, "attribute 'group' is {}; it must be at least 1", group);
  c.check(in_channels < 0 || in_channels % group == 0, "{} groups do not divide {} input channels", group,
          in_channels);
  c.check(out_channels < 0 || out_channels % group == 0, "{} groups do not divide {} output channels", group,
          out_channels);
  return group;
}

void infer_conv(InferContext& c, DType dtype, size_t x, size_t w) {
  const Dims *data = c.input_dims(x), *weights = c.input_dims(w);
  if (data == nullptr) return c.set_output(0, dtype);
  c.check(data->size() >= 3, "the input has {} dimensions; it needs batch, channels and at least one more",
          data->size());
  std::vector<int64_t> kernel;
  Dim out_channels;
  if (weights != nullptr) {
    c.check(weights->size() == data->size(), "the input has {} dimensions, the weights {}", data->size(),
            weights->size());
    check_channels(c, (*data)[1], (*weights)[1]);
    out_channels = (*weights)[0];
    if (out_channels.is_known()) read_group(c, -1, out_channels.value());
    kernel = known_kernel(*weights);
  }
  Dims out = {(*data)[0], out_channels};
  for (const Dim& d : read_window(c, data->size() - 2, std::move(kernel)).output_extents(spatial_dims(*data)))
    out.push_back(d);
  c.set_output(0, dtype, std::move(out));
}

void check_conv_bias(const InferContext& c, size_t w, size_t b) {
  const Dims *weights = c.input_dims(w), *bias = c.has_input(b) ? c.input_dims(b) : nullptr;
  if (bias == nullptr) return;
  c.check(bias->size() == 1, "the bias has {} dimensions where 1 is needed", bias->size());
  if (weights == nullptr || weights->empty()) return;
  const Dim &given = (*bias)[0], &needed = (*weights)[0];
  c.check(!given.is_known() || !needed.is_known() || given.value() == needed.value(),
          "the bias has {} elements for {} output channels", given.str(), needed.str());
}

ConvPlan plan_conv(const OpContext& c, const Shape& x, const Shape& w) {
  c.check(x.size() >= 3, "the input has shape {}; it needs batch, channels and at least one more", x.str());
  c.check(w.size() == x.size(), "the input has shape {}, the weights {}", x.str(), w.str());
  const int64_t group = read_group(c, x[1], w[0]);
  check_channels(c, Dim(x[1]), Dim(w[1]));
  ConvPlan plan;
  plan.size = {.batch = x[0], .groups = group, .in_channels = x[1], .out_channels = w[0]};
  plan.window = read_window(c, x.size() - 2, spatial_shape(w).dims()).over(spatial_shape(x));
  plan.output = Shape{x[0], w[0]};
  for (const int64_t extent : plan.window.out) plan.output.push_back(extent);
  return plan;
}

const double* conv_bias(EvalContext& c, size_t i, int64_t out_channels) {
  if (!c.has_input(i)) return nullptr;
  c.check(c.shape(i) == Shape{out_channels}, "the bias has shape {} for {} output channels", c.shape(i).str(),
          out_channels);
  return c.input(i).data<double>();
}

}  // namespace assay
