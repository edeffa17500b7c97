// Add, Sub, Mul or Div by a constant per channel, or Neg, behind a convolution goes into its weights and
// bias.
#include <cmath>

#include "analysis/channel_constants.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_fold_channel_affine {
namespace {

struct Affine {
  std::vector<double> factor, shift;
};

/// y = x * factor + shift for the node's constant operand.
std::optional<Affine> affine_of(const Node& n, const Value* x, int rank, int64_t channels) {
  if (is_op(n, "Neg"))
    return Affine{std::vector<double>(static_cast<size_t>(channels), -1),
                  std::vector<double>(static_cast<size_t>(channels), 0)};
  const Value* other = other_input(n, x);
  if (other == nullptr || other == x) return std::nullopt;
  const std::optional<std::vector<double>> c = channel_constant(other, rank, channels);
  if (!c) return std::nullopt;
  const bool first = n.input(0) == x;
  const auto count = static_cast<size_t>(channels);
  Affine a{std::vector<double>(count, 1), std::vector<double>(count, 0)};
  for (size_t i = 0; i < count; ++i) {
    if (is_op(n, "Add"))
      a.shift[i] = (*c)[i];
    else if (is_op(n, "Sub"))
      a.factor[i] = first ? 1 : -1, a.shift[i] = first ? -(*c)[i] : (*c)[i];
    else if (is_op(n, "Mul"))
      a.factor[i] = (*c)[i];
    else if (is_op(n, "Div") && first && (*c)[i] != 0)
      a.factor[i] = 1 / (*c)[i];
    else
      return std::nullopt;
  }
  return a;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  for (const Value* x : n.inputs()) {
    if (n.inputs().size() > 2 || x == nullptr || x->producer() == nullptr || context.sole_consumer(x) != &n)
      continue;
    const Node& producer = *x->producer();
    const std::optional<LinearNode> linear = linear_node(producer);
    if (!linear || is_op(producer, "Gemm")) continue;
    const std::optional<Affine> affine = affine_of(n, x, linear->weight->rank(), linear->channels);
    if (!affine) continue;
    const auto channels = static_cast<size_t>(linear->channels);
    std::vector<double> bias =
        linear->bias != nullptr ? to_doubles(*linear->bias) : std::vector<double>(channels);
    const DType dtype = linear->weight->dtype();
    bool scales = false, holds = true;
    for (size_t c = 0; c < channels; ++c) {
      scales = scales || affine->factor[c] != 1;
      const double scaled = bias[c] * affine->factor[c];
      holds =
          holds && std::isfinite(affine->factor[c]) && is_no_rounding_trick(scaled, affine->shift[c], dtype);
      bias[c] = scaled + affine->shift[c];
    }
    if (!holds || !are_in_range(bias, dtype)) continue;
    const std::optional<Tensor> scaled =
        scales ? scaled_weight(*linear, affine->factor) : std::optional<Tensor>();
    if (scales && !scaled) continue;
    Patch patch(n);
    patch.remove(producer);
    patch.remove(n);
    AttributeList attributes;
    for (const Attribute& a : producer.attributes) attributes.emplace_back(a.name, a.data);
    const Patch::Ref weight = scales ? patch.constant(producer.input(1)->name() + "/folded", *scaled)
                                     : Patch::Ref(producer.input(1));
    const Patch::Ref shift = patch.constant(n.output(0)->name() + "/bias", float_vector(bias, dtype));
    patch.add(producer.op_type, {producer.input(0), weight, shift}, std::move(attributes), n.output(0));
    return patch;
  }
  return std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "fold_channel_affine",
    .summary = "a constant per channel added to or multiplied with a convolution goes into its weights",
    .conditions =
        "As fold_batch_norm, for one constant, or one for each channel, that does not enlarge the result of "
        "a Conv or ConvTranspose; a divisor is not 0.",
    .match = match,
};

}  // namespace assay::pass_fold_channel_affine
