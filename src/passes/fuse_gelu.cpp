// x / 2 * (1 + Erf(x / sqrt(2))), multiplied in any order, becomes a Gelu region; x / 2 * (1 + Tanh(sqrt(2 /
// pi) * (x + 0.044715 * x^3))) a GeluTanh region.
#include <cmath>

#include "analysis/match.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay::pass_fuse_gelu {
namespace {

/// The nodes of a pattern found so far, and the value x it is about.
struct Found {
  Value* x = nullptr;
  std::vector<const Node*> nodes;
};

/// The operand of a product with the number, when `v` is one that only `user` uses.
const Node* product_with(const Value* v, double number, const Node& user, const PassContext& context) {
  const Node* mul = producer_of(v, "Mul");
  if (mul == nullptr || context.sole_consumer(v) != &user || mul->inputs().size() != 2) return nullptr;
  return is_scalar_beside(mul->input(0), number, mul->input(1)) ||
                 is_scalar_beside(mul->input(1), number, mul->input(0))
             ? mul
             : nullptr;
}

Value* operand_beside(const Node& n, double number) {
  return is_scalar_beside(n.input(1), number, n.input(0)) ? n.input(0) : n.input(1);
}

/// Erf(x / sqrt(2)).
std::optional<Found> erf_argument(const Node& erf, const PassContext& context) {
  const Value* v = erf.input(0);
  const Node* div = producer_of(v, "Div");
  if (div != nullptr && context.sole_consumer(v) == &erf &&
      is_scalar_beside(div->input(1), std::sqrt(2.0), div->input(0)))
    return Found{div->input(0), {div, &erf}};
  const Node* mul = product_with(v, std::sqrt(0.5), erf, context);
  if (mul != nullptr) return Found{operand_beside(*mul, std::sqrt(0.5)), {mul, &erf}};
  return std::nullopt;
}

/// x^3 as Pow(x, 3) or x * x * x, used by `user` only.
std::optional<std::vector<const Node*>> cube_of(const Value* v, const Value* x, const Node& user,
                                                const PassContext& context) {
  if (v == nullptr || v->producer() == nullptr || context.sole_consumer(v) != &user) return std::nullopt;
  const Node& n = *v->producer();
  if (is_op(n, "Pow") && n.input(0) == x && is_scalar_beside(n.input(1), 3, x))
    return std::vector<const Node*>{&n};
  if (!is_op(n, "Mul")) return std::nullopt;
  const Value* square = other_input(n, x);
  const Node* inner = producer_of(square, "Mul");
  if (inner == nullptr || context.sole_consumer(square) != &n || inner->input(0) != x || inner->input(1) != x)
    return std::nullopt;
  return std::vector<const Node*>{inner, &n};
}

/// Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
std::optional<Found> tanh_argument(const Node& tanh, const PassContext& context) {
  const double outer = std::sqrt(2 / M_PI);
  const Node* scaled = product_with(tanh.input(0), outer, tanh, context);
  if (scaled == nullptr) return std::nullopt;
  const Value* sum = operand_beside(*scaled, outer);
  const Node* add = producer_of(sum, "Add");
  if (add == nullptr || context.sole_consumer(sum) != scaled) return std::nullopt;
  for (Value* cubic : add->inputs()) {
    const Node* mul = product_with(cubic, 0.044715, *add, context);
    if (mul == nullptr) continue;
    Value* x = other_input(*add, cubic);
    const auto cube = cube_of(operand_beside(*mul, 0.044715), x, *mul, context);
    if (!cube) continue;
    Found found{x, *cube};
    for (const Node* n : {mul, add, scaled, &tanh}) found.nodes.push_back(n);
    return found;
  }
  return std::nullopt;
}

/// Climbs from the factor 1 + f(x) through products until x and 1/2 have been multiplied in.
bool climb(Found& found, const Node& sum, const PassContext& context) {
  bool has_x = false, has_half = false;
  const Node* at = &sum;
  while (!has_x || !has_half) {
    const Value* v = at->output(0);
    const Node* mul = context.sole_consumer(v);
    if (mul == nullptr || !is_op(*mul, "Mul")) return false;
    Value* other = other_input(*mul, v);
    const Node* half = product_with(other, 0.5, *mul, context);
    if (!has_half && is_scalar_beside(other, 0.5, v)) {
      has_half = true;
    } else if (!has_x && other == found.x) {
      has_x = true;
    } else if (!has_x && !has_half && half != nullptr && operand_beside(*half, 0.5) == found.x) {
      found.nodes.push_back(half);
      has_x = has_half = true;
    } else {
      return false;
    }
    found.nodes.push_back(mul);
    at = mul;
  }
  return true;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const bool erf = is_op(n, "Erf");
  if ((!erf && !is_op(n, "Tanh")) || dtype_of(n.output(0)) != DType::kFloat32) return std::nullopt;
  const Node* sum = context.sole_consumer(n.output(0));
  if (sum == nullptr || !is_op(*sum, "Add") ||
      !is_scalar_beside(other_input(*sum, n.output(0)), 1, n.output(0)))
    return std::nullopt;
  std::optional<Found> found = erf ? erf_argument(n, context) : tanh_argument(n, context);
  if (!found || found->x == nullptr) return std::nullopt;
  found->nodes.push_back(sum);
  if (!climb(*found, *sum, context)) return std::nullopt;
  return make_region(erf ? kGelu : kGeluTanh, in_order(found->nodes), context, std::span(&found->x, 1));
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_gelu",
    .summary = "the Gelu formulas over Erf and over Tanh become one activation",
    .conditions =
        "float32. The numbers are 1, 1/2, 3 and, as closely as float32 says them, the square roots and "
        "0.044715; as one-element constants that do not raise the rank. Nothing else uses what lies between.",
    .match = match,
};

}  // namespace assay::pass_fuse_gelu
