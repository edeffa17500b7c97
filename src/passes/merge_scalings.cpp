// Two products with constants become one, and two sums: (x * a) / b is x * (a / b), (x + a) - b is x + (a -
// b). One of the constants is a number.
#include <algorithm>
#include <cmath>

#include "analysis/channel_constants.h"
#include "analysis/match.h"
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

/// The factor that two are together, `a` the first one. Both make numbers larger or both make them smaller:
/// then a number that leaves the range on the way does so in the end, too. Or the first makes them a little
/// smaller, which costs the tiniest of them no more digits than they lack already, and the second leaves what
/// they lost too small to matter.
std::optional<double> product_of(double a, double b, DType dtype) {
  constexpr double kLittle = 0.125, kMuch = 1024;
  const bool agree = std::abs(b) >= 1 ? std::abs(a) >= 1 || (std::abs(a) >= kLittle && std::abs(b) <= kMuch)
                                      : std::abs(a) <= 1;
  const double both = a * b;
  if (!agree || both == 0 || !is_normal_in(a, dtype) || !is_normal_in(b, dtype) || !is_normal_in(both, dtype))
    return std::nullopt;
  return both;
}

/// The term that two are together. They have one sign and are of one size: what is added to them is then
/// rounded as before, or less.
std::optional<double> sum_of(double a, double b, DType dtype) {
  constexpr double kOneSize = 4;
  if (a == 0 || b == 0) return std::isfinite(a + b) ? std::optional(a + b) : std::nullopt;
  const bool agree = (a < 0) == (b < 0);
  const double small = std::min(std::abs(a), std::abs(b)), large = std::max(std::abs(a), std::abs(b));
  const double both = a + b;
  if (!agree || !is_normal_in(both, dtype) || !(large <= kOneSize * small)) return std::nullopt;
  return both;
}

bool are_alike(const Step& a, const Step& b) {
  return a.is_product == b.is_product && a.original->dtype() == b.original->dtype();
}

/// Whether the constant is a number that leaves the other its shape.
bool is_number_beside(const Step& step, const Step& other) {
  return step.numbers.size() == 1 && step.original->rank() <= other.original->rank();
}

/// The constant of both steps together; nothing where they do not make one.
std::optional<Tensor> merged_constant(const Step& inner, const Step& outer) {
  const bool keeps_outer = is_number_beside(inner, outer);
  if (!keeps_outer && !is_number_beside(outer, inner)) return std::nullopt;
  const Step& shaped = keeps_outer ? outer : inner;
  const DType dtype = shaped.original->dtype();
  const double number = keeps_outer ? inner.numbers[0] : outer.numbers[0];
  std::vector<double> all = shaped.numbers;
  for (double& c : all) {
    const double first = keeps_outer ? number : c, second = keeps_outer ? c : number;
    const std::optional<double> both =
        shaped.is_product ? product_of(first, second, dtype) : sum_of(first, second, dtype);
    if (!both) return std::nullopt;
    c = *both;
  }
  return float_vector(all, dtype).reshaped(shaped.original->shape());
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (context.model.opset() < 7 || n.output(0) == nullptr) return std::nullopt;
  const std::optional<Step> outer = step_of(n);
  if (!outer || outer->x->producer() == nullptr || context.sole_consumer(outer->x) != &n) return std::nullopt;
  const Node& before = *outer->x->producer();
  const std::optional<Step> inner = step_of(before);
  if (!inner || !are_alike(*inner, *outer)) return std::nullopt;
  const std::optional<Tensor> constant = merged_constant(*inner, *outer);
  if (!constant) return std::nullopt;
  Patch patch(n);
  patch.remove(before);
  patch.remove(n);
  patch.add(outer->is_product ? "Mul" : "Add",
            {inner->x, patch.constant(n.output(0)->name() + "/constant", *constant)}, {}, n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_scalings",
    .summary = "two products with constants become one, and two sums",
    .conditions =
        "Opset 7 or later, one floating type of 16 to 64 bits, one of the constants a number that does not "
        "raise the rank of the other. Factors: both of magnitude 1 and more, both of 1 and less, or the "
        "first of 1/8 to 1 and the second of 1 to 1024, they and their product normal numbers of the type. "
        "Terms: of one sign and within a factor of 4 of each other, or one of them 0, and a sum in the range "
        "of the type: what rounds or saturates on purpose stays. Nothing else uses the inner result.",
    .match = match,
};

}  // namespace assay::pass_merge_scalings
