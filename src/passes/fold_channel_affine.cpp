// Add, Sub, Mul or Div by a constant per channel, or Neg, behind a convolution goes into its weights and
// bias.
#include <algorithm>
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

/// The bias behind both; nothing where a number leaves the range of the type, or a rounding is done away
/// with.
std::optional<std::vector<double>> folded_bias(const LinearNode& linear, const Affine& affine) {
  const auto channels = static_cast<size_t>(linear.channels);
  const DType dtype = linear.weight->dtype();
  std::vector<double> bias =
      linear.bias != nullptr ? to_doubles(*linear.bias) : std::vector<double>(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double scaled = bias[c] * affine.factor[c];
    if (!std::isfinite(affine.factor[c]) || !is_no_rounding_trick(scaled, affine.shift[c], dtype))
      return std::nullopt;
    bias[c] = scaled + affine.shift[c];
  }
  return are_in_range(bias, dtype) ? std::optional(bias) : std::nullopt;
}

/// The node goes into the convolution that gives its operand `x`.
std::optional<Patch> folded_into(const Node& conv, const Node& n, const Value* x) {
  const std::optional<LinearNode> linear = linear_node(conv);
  if (!linear || is_op(conv, "Gemm")) return std::nullopt;
  const std::optional<Affine> affine = affine_of(n, x, linear->weight->rank(), linear->channels);
  if (!affine) return std::nullopt;
  const std::optional<std::vector<double>> bias = folded_bias(*linear, *affine);
  if (!bias) return std::nullopt;
  const bool scales =
      std::any_of(affine->factor.begin(), affine->factor.end(), [](double f) { return f != 1; });
  const std::optional<Tensor> scaled =
      scales ? scaled_weight(*linear, affine->factor) : std::optional<Tensor>();
  if (scales && !scaled) return std::nullopt;
  Patch patch(n);
  patch.remove(conv);
  patch.remove(n);
  AttributeList attributes;
  for (const Attribute& a : conv.attributes) attributes.emplace_back(a.name, a.data);
  const Patch::Ref weight =
      scales ? patch.constant(conv.input(1)->name() + "/folded", *scaled) : Patch::Ref(conv.input(1));
  const Patch::Ref shift =
      patch.constant(n.output(0)->name() + "/bias", float_vector(*bias, linear->weight->dtype()));
  patch.add(conv.op_type, {conv.input(0), weight, shift}, std::move(attributes), n.output(0));
  return patch;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (n.inputs().size() > 2) return std::nullopt;
  for (const Value* x : n.inputs()) {
    if (x == nullptr || x->producer() == nullptr || context.sole_consumer(x) != &n) continue;
    if (std::optional<Patch> patch = folded_into(*x->producer(), n, x)) return patch;
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
