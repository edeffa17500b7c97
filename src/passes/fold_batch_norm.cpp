// A batch normalization behind a convolution or Gemm goes into its weights and bias.
#include "analysis/channel_constants.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_fold_batch_norm {
namespace {

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "BatchNormalization") || n.input(0) == nullptr || context.sole_consumer(n.input(0)) != &n ||
      n.input(0)->producer() == nullptr)
    return std::nullopt;
  const std::optional<LinearNode> linear = linear_node(*n.input(0)->producer());
  const std::optional<ChannelAffine> norm = normalization_of(n);
  if (!linear || !norm || norm->factors.size() != static_cast<size_t>(linear->channels)) return std::nullopt;
  const DType dtype = linear->weight->dtype();
  std::vector<double> bias = norm->shifts;
  if (linear->bias != nullptr) {
    const std::vector<double> old = to_doubles(*linear->bias);
    for (size_t c = 0; c < bias.size(); ++c) {
      const double scaled = old[c] * norm->factors[c];
      if (!is_no_rounding_trick(scaled, bias[c], dtype)) return std::nullopt;
      bias[c] += scaled;
    }
  }
  const std::optional<Tensor> weight = scaled_weight(*linear, norm->factors);
  if (!weight || !are_in_range(bias, dtype)) return std::nullopt;
  const Node& producer = *linear->node;
  Patch patch(n);
  patch.remove(producer);
  patch.remove(n);
  AttributeList attributes;
  for (const Attribute& a : producer.attributes) attributes.emplace_back(a.name, a.data);
  patch.add(producer.op_type,
            {producer.input(0), patch.constant(producer.input(1)->name() + "/folded", *weight),
             patch.constant(n.output(0)->name() + "/bias", float_vector(bias, dtype))},
            std::move(attributes), n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "fold_batch_norm",
    .summary = "batch normalisation goes into the weights of the convolution or Gemm before it",
    .conditions =
        "The normalisation is of one kind for a channel, does not train and gives no statistics; its numbers "
        "are constants. The only use of the Conv, ConvTranspose or Gemm (alpha and beta 1), whose operand "
        "does "
        "not come from integers (DequantizeLinear), is the "
        "normalisation; weight and bias are constants of one floating type. Factors and shifts are finite; "
        "scaled weights are finite and lose no digits below the smallest normal number; the sum of both "
        "biases is finite and cancels no constant that rounds on purpose. What is computed on the way stays "
        "in "
        "the range of the type; a zero may change its sign.",
    .match = match,
};

}  // namespace assay::pass_fold_batch_norm
