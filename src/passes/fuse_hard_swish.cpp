// x * HardSigmoid(x) with slope 1/6 and offset 1/2, and x * Clip(x + 3, 0, 6) / 6, become a HardSwish region.
#include <cmath>

#include "analysis/match.h"
#include "passes/pass_list.h"
#include "passes/pointwise_form.h"
#include "passes/region.h"

namespace assay::pass_fuse_hard_swish {
namespace {

/// Of slope and offset: as closely as float32 or eight digits say them.
constexpr double kTolerance = 5e-8;

bool is_hard_sigmoid(const Node& n) {
  return is_op(n, "HardSigmoid") && std::abs(float_attribute(n, "alpha", 0.2F) - 1.0 / 6) < kTolerance &&
         std::abs(float_attribute(n, "beta", 0.5F) - 0.5) < kTolerance;
}

/// What 3 is added to; null when the node is another sum.
Value* ramp_argument(const Node& add) {
  for (const size_t i : {0, 1})
    if (is_scalar_beside(add.input(i), 3, add.input(1 - i))) return add.input(1 - i);
  return nullptr;
}

/// Clip(x + 3, 0, 6): the addition, when `n` is the Clip.
const Node* ramp_addition(const Node& n, const PassContext& context) {
  const std::optional<PointwiseForm> clip = pointwise_form(n, context.model);
  if (!clip || clip->op != kernels::PointwiseOp::kClip || clip->a != 0 || clip->b != 6) return nullptr;
  const Node* add = producer_of(n.input(0), "Add");
  if (add == nullptr || context.sole_consumer(n.input(0)) != &n) return nullptr;
  return ramp_argument(*add) != nullptr ? add : nullptr;
}

/// True for y / 6 or y * (1/6).
bool divides_by_six(const Node& n, const Value* y) {
  const Value* other = other_input(n, y);
  return (is_op(n, "Div") && n.input(0) == y && is_scalar_beside(other, 6, y)) ||
         (is_op(n, "Mul") && is_scalar_beside(other, 1.0 / 6, y));
}

/// x * Clip(x + 3, 0, 6) at the Mul, with the division after it or between Clip and Mul.
std::optional<Patch> match_clip(const Node& mul, const PassContext& context) {
  for (Value* t : mul.inputs()) {
    const Node* source = t != nullptr ? t->producer() : nullptr;
    if (source == nullptr || context.sole_consumer(t) != &mul) continue;
    const Node* clip = source;
    Value* clipped = source->input(0);
    if (clipped != nullptr && divides_by_six(*source, clipped) && clipped->producer() != nullptr) {
      if (context.sole_consumer(clipped) != source) continue;
      clip = clipped->producer();
    }
    const Node* add = ramp_addition(*clip, context);
    if (add == nullptr || ramp_argument(*add) != other_input(mul, t)) continue;
    Value* x = ramp_argument(*add);
    if (clip != source) {
      const Node* const nodes[] = {add, clip, source, &mul};
      return make_region(kHardSwish, nodes, context, std::span(&x, 1));
    }
    const Node* last = context.sole_consumer(mul.output(0));
    if (last == nullptr || !divides_by_six(*last, mul.output(0))) continue;
    const Node* const nodes[] = {add, clip, &mul, last};
    return make_region(kHardSwish, nodes, context, std::span(&x, 1));
  }
  return std::nullopt;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Mul") || n.inputs().size() != 2 || dtype_of(n.output(0)) != DType::kFloat32)
    return std::nullopt;
  for (Value* s : n.inputs()) {
    const Node* ramp = producer_of(s, "HardSigmoid");
    if (ramp == nullptr || !is_hard_sigmoid(*ramp) || context.sole_consumer(s) != &n) continue;
    Value* x = ramp->input(0);
    if (other_input(n, s) != x) continue;
    const Node* const nodes[] = {ramp, &n};
    return make_region(kHardSwish, nodes, context, std::span(&x, 1));
  }
  return match_clip(n, context);
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_hard_swish",
    .summary = "x * Clip(x + 3, 0, 6) / 6 and its forms become one activation",
    .conditions =
        "float32. The numbers are 3, 0, 6 and, as closely as float32 says it, 1/6; as one-element constants "
        "that do not raise the rank. A HardSigmoid has alpha 1/6 and beta 1/2. Nothing else uses what lies "
        "between.",
    .match = match,
};

}  // namespace assay::pass_fuse_hard_swish
