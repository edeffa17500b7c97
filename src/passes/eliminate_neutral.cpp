// Arithmetic with a neutral element: x + 0, x - 0, x * 1, x / 1, x ** 1, And true, Or false. And Where with a
// condition that is the same everywhere.
#include <algorithm>
#include <cmath>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"
#include "tensor/convert.h"

namespace assay::pass_eliminate_neutral {
namespace {

/// More elements than a neutral operand has: weights are not read for this.
constexpr int64_t kMaxElements = 1 << 16;

/// The number that all elements of a constant are; nothing when they differ, or are none or many.
std::optional<double> uniform_number(const Value* v) {
  const UnalignedTensor* t = constant_of(v);
  if (t == nullptr || t->numel() == 0 || t->numel() > kMaxElements) return std::nullopt;
  if (t->dtype() != DType::kBool && !is_float(t->dtype()) && !is_integer(t->dtype())) return std::nullopt;
  const Tensor wide = to_float64(*t);
  const std::span<const double> numbers = wide.span<double>();
  const double first = numbers[0];
  const bool uniform = std::all_of(numbers.begin(), numbers.end(), [&](double x) {
    return x == first && std::signbit(x) == std::signbit(first);
  });
  return uniform ? std::optional(first) : std::nullopt;
}

/// Whether no element is -0, of which a sum with 0 makes 0.
bool has_no_negative_zero(const Value* v, const Model& model) {
  const Node* n = v->producer();
  const bool is_positive =
      n != nullptr && &n->graph() == &v->graph() && facts_of(*n, model).sign == SignOfResult::kPositive;
  return is_positive || is_integer(dtype_of(v));
}

/// Whether x + number is x for all numbers x, of either zero, too.
bool is_neutral_term(double number, const Value* x, const Model& model) {
  return number == 0 && (std::signbit(number) || has_no_negative_zero(x, model));
}

/// The operand that the node gives back when its other one is uniformly neutral.
const Value* kept_operand(const Node& n, const Model& model) {
  if (n.inputs().size() != 2) return nullptr;
  const auto is = [&](size_t i, double number) { return uniform_number(n.input(i)) == number; };
  const auto either = [&](double number) {
    return is(1, number) ? n.input(0) : is(0, number) ? n.input(1) : nullptr;
  };
  if (is_op(n, "Add")) {
    for (const size_t i : {1, 0})
      if (const auto number = uniform_number(n.input(i));
          number && is_neutral_term(*number, n.input(1 - i), model))
        return n.input(1 - i);
    return nullptr;
  }
  if (is_op(n, "Mul")) return either(1);
  if (is_op(n, "Or")) return either(0);
  if (is_op(n, "And")) return either(1);
  if (is_op(n, "Sub")) {
    const auto number = uniform_number(n.input(1));
    return number && is_neutral_term(-*number, n.input(0), model) ? n.input(0) : nullptr;
  }
  if (is_op(n, "Div") || is_op(n, "Pow")) return is(1, 1) ? n.input(0) : nullptr;
  return nullptr;
}

/// Whether the other operand, a constant, leaves the extents of the result as they are in `x`.
bool keeps_extents(const Node& n, const Value* x) {
  if (same_dims(x, n.output(0))) return true;
  const Value* other = other_input(n, x);
  const UnalignedTensor* t = constant_of(other);
  return t != nullptr && t->numel() == 1 && (t->rank() == 0 || t->rank() <= rank_of(x));
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (context.model.opset() < 7 || n.output(0) == nullptr) return std::nullopt;
  const Value* kept = nullptr;
  if (is_op(n, "Where")) {
    if (const auto condition = uniform_number(n.input(0))) kept = n.input(*condition != 0 ? 1 : 2);
    if (!same_dims(kept, n.output(0))) kept = nullptr;
  } else {
    kept = kept_operand(n, context.model);
    if (kept != nullptr && !keeps_extents(n, kept)) kept = nullptr;
  }
  if (kept == nullptr || dtype_of(kept) != dtype_of(n.output(0)) || !context.can_replace(n.output(0), kept))
    return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  patch.replace(n.output(0), const_cast<Value*>(kept));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "eliminate_neutral",
    .summary = "arithmetic with a neutral element is removed, and Where with a uniform condition",
    .conditions =
        "Opset 7 or later. The constant is uniform, of at most 65536 elements, and does not enlarge the "
        "result. x * 1, x / 1, x ** 1, x - 0, x + -0, x And true, x Or false; x + 0 only for integers and "
        "behind Abs, Exp, Sigmoid or Softmax, since -0 + 0 is 0. Where with a uniform condition whose chosen "
        "operand has the extents of the result.",
    .match = match,
};

}  // namespace assay::pass_eliminate_neutral
