// Two products with constants become one, and two sums: (x * a) / b is x * (a / b), (x + a) - b is x + (a -
// b). One of the constants is a number.
#include "passes/channel_constants.h"
#include "passes/match.h"
#include "passes/pass_list.h"
#include "tensor/convert.h"

namespace assay::pass_merge_scalings {
namespace {

/// x * constant or x + constant; the constant in float64, inverted or negated where the node divides or
/// subtracts.
struct Step {
  Value* x = nullptr;
  const UnalignedTensor* original = nullptr;
  std::vector<double> numbers;
  bool is_product = false;
};

std::optional<Step> step_of(const Node& n) {
  const bool product = is_op(n, "Mul") || is_op(n, "Div"), commutes = is_op(n, "Mul") || is_op(n, "Add");
  if (n.inputs().size() != 2 || (!product && !commutes && !is_op(n, "Sub"))) return std::nullopt;
  const size_t side = commutes && constant_of(n.input(0)) != nullptr ? 0 : 1;
  const UnalignedTensor* t = constant_of(n.input(side));
  if (t == nullptr || !is_float(t->dtype()) || n.input(1 - side) == nullptr ||
      constant_of(n.input(1 - side)) != nullptr)
    return std::nullopt;
  Step step{n.input(1 - side), t, to_doubles(*t), product};
  for (double& c : step.numbers) {
    if (is_op(n, "Div") && c == 0) return std::nullopt;
    c = is_op(n, "Div") ? 1 / c : is_op(n, "Sub") ? -c : c;
  }
  return step;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (context.model.opset() < 7 || n.output(0) == nullptr) return std::nullopt;
  const std::optional<Step> outer = step_of(n);
  if (!outer || outer->x->producer() == nullptr || context.sole_consumer(outer->x) != &n) return std::nullopt;
  const Node& before = *outer->x->producer();
  const std::optional<Step> inner = step_of(before);
  if (!inner || inner->is_product != outer->is_product ||
      inner->original->dtype() != outer->original->dtype())
    return std::nullopt;
  // A number of no more dimensions than the other constant leaves its shape.
  const bool keeps_outer = inner->numbers.size() == 1 && inner->original->rank() <= outer->original->rank();
  const bool keeps_inner = outer->numbers.size() == 1 && outer->original->rank() <= inner->original->rank();
  if (!keeps_outer && !keeps_inner) return std::nullopt;
  const Step& shaped = keeps_outer ? *outer : *inner;
  const double number = keeps_outer ? inner->numbers[0] : outer->numbers[0];
  std::vector<double> both = shaped.numbers;
  for (double& c : both) c = shaped.is_product ? c * number : c + number;
  Patch patch(n);
  patch.remove(before);
  patch.remove(n);
  patch.add(shaped.is_product ? "Mul" : "Add",
            {inner->x,
             patch.constant(n.output(0)->name() + "/constant",
                            float_vector(both, shaped.original->dtype()).reshaped(shaped.original->shape()))},
            {}, n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_scalings",
    .summary = "two products with constants become one, and two sums",
    .match = match,
};

}  // namespace assay::pass_merge_scalings
