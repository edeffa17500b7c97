// A batch normalisation behind a convolution or Gemm goes into its weights and bias.
#include <cmath>

#include "passes/channel_constants.h"
#include "passes/match.h"
#include "passes/pass_list.h"

namespace assay::pass_fold_batch_norm {
namespace {

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "BatchNormalization") || int_attribute(n, "training_mode", 0) != 0) return std::nullopt;
  for (size_t i = 1; i < n.outputs().size(); ++i)
    if (n.output(i) != nullptr && !n.output(i)->consumers().empty()) return std::nullopt;
  if (n.input(0) == nullptr || context.sole_consumer(n.input(0)) != &n || n.input(0)->producer() == nullptr)
    return std::nullopt;
  const std::optional<LinearNode> linear = linear_node(*n.input(0)->producer());
  const UnalignedTensor *scale = constant_of(n.input(1)), *shift = constant_of(n.input(2)),
                        *mean = constant_of(n.input(3)), *variance = constant_of(n.input(4));
  if (!linear || scale == nullptr || shift == nullptr || mean == nullptr || variance == nullptr)
    return std::nullopt;
  const auto channels = static_cast<size_t>(linear->channels);
  const std::vector<double> s = to_doubles(*scale), b = to_doubles(*shift), m = to_doubles(*mean),
                            v = to_doubles(*variance);
  if (s.size() != channels || b.size() != channels || m.size() != channels || v.size() != channels)
    return std::nullopt;
  const double epsilon = float_attribute(n, "epsilon", 1e-5F);
  std::vector<double> factors(channels), bias(channels);
  const std::vector<double> old =
      linear->bias != nullptr ? to_doubles(*linear->bias) : std::vector<double>(channels);
  for (size_t c = 0; c < channels; ++c) {
    factors[c] = s[c] / std::sqrt(v[c] + epsilon);
    bias[c] = (old[c] - m[c]) * factors[c] + b[c];
  }
  const Node& producer = *linear->node;
  Patch patch(n);
  patch.remove(producer);
  patch.remove(n);
  AttributeList attributes;
  for (const Attribute& a : producer.attributes) attributes.emplace_back(a.name, a.data);
  const DType dtype = linear->weight->dtype();
  patch.add(producer.op_type,
            {producer.input(0),
             patch.constant(producer.input(1)->name() + "/folded", scaled_weight(*linear, factors)),
             patch.constant(n.output(0)->name() + "/bias", float_vector(bias, dtype))},
            std::move(attributes), n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "fold_batch_norm",
    .summary = "batch normalisation goes into the weights of the convolution or Gemm before it",
    .match = match,
};

}  // namespace assay::pass_fold_batch_norm
