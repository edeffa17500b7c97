#include "debug/non_finite_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/python_repr.h"
#include "debug/places.h"
#include "graph/read.h"
#include "ops/node_facts.h"
#include "reference/evaluate.h"
#include "tensor/float_range.h"

namespace assay::debug {
namespace {

using kernels::PointwiseOp;

std::string of_division(double x, double y) {
  if (y == 0) return x == 0 ? "0 / 0" : "division by 0";
  return std::isinf(x) && std::isinf(y) ? "infinity / infinity" : "";
}

std::string of_power(double x, double y) {
  if (x < 0 && y != std::trunc(y)) return "a negative number to the power of a fraction";
  return x == 0 && y < 0 ? "0 to a negative power" : "";
}

std::string of_logarithm(double x) {
  if (x == 0) return "logarithm of 0";
  return x < 0 ? "logarithm of a negative number" : "";
}

/// Outside of where the function is defined; also of infinity, of which periodic functions have none.
std::string outside_domain(PointwiseOp op, double x) {
  switch (op) {
    case PointwiseOp::kSqrt:
      return x < 0 ? "square root of a negative number" : "";
    case PointwiseOp::kAcos:
    case PointwiseOp::kAsin:
      return std::abs(x) > 1 ? "it is defined from -1 to 1" : "";
    case PointwiseOp::kAcosh:
      return x < 1 ? "it is defined from 1 on" : "";
    case PointwiseOp::kAtanh:
      return std::abs(x) >= 1 ? "it is finite between -1 and 1" : "";
    case PointwiseOp::kSin:
    case PointwiseOp::kCos:
    case PointwiseOp::kTan:
      return std::isinf(x) ? "of an infinite number" : "";
    default:
      return "";
  }
}

/// What IEEE 754 and the definition of the function say of these operands; empty where they say nothing.
std::string of_operands(PointwiseOp op, double x, double y) {
  const bool both_infinite = std::isinf(x) && std::isinf(y);
  switch (op) {
    case PointwiseOp::kDiv:
      return of_division(x, y);
    case PointwiseOp::kReciprocal:
      return of_division(1, x);
    case PointwiseOp::kTruncMod:
      return y == 0 ? "remainder of a division by 0" : "";
    case PointwiseOp::kLog:
      return of_logarithm(x);
    case PointwiseOp::kPow:
      return of_power(x, y);
    case PointwiseOp::kAdd:
    case PointwiseOp::kSub:
      return both_infinite ? "infinity - infinity" : "";
    case PointwiseOp::kMul:
      return (x == 0 && std::isinf(y)) || (y == 0 && std::isinf(x)) ? "0 * infinity" : "";
    default:
      return outside_domain(op, x);
  }
}

struct Extremes {
  double least = std::numeric_limits<double>::infinity(), largest = -std::numeric_limits<double>::infinity();
  void take(double x) {
    least = std::min(least, x);
    largest = std::max(largest, x);
  }
};

/// Of an operator that computes the elements along an axis with each other: what they are, where that says
/// why.
std::string along_axis(const EvaluatedNode& e, const OpFacts& facts, const Tensor& x,
                       const std::vector<int64_t>& index) {
  if (!facts.mixes_axis || !x.defined() || x.shape() != e.output.shape() || x.rank() == 0) return "";
  int64_t axis = int_attribute(e.node, "axis", -1);
  if (axis < 0) axis += x.rank();
  if (axis < 0 || axis >= x.rank()) return "";
  Extremes found;
  std::vector<int64_t> at = index;
  for (int64_t i = 0; i < x.dim(static_cast<size_t>(axis)); ++i) {
    at[static_cast<size_t>(axis)] = i;
    found.take(number_at(x, flat_index(x.shape(), at)));
  }
  if (found.largest == -std::numeric_limits<double>::infinity())
    return fmt::format("all elements along axis {} are -infinity", axis);
  return std::isinf(found.largest) ? fmt::format("an element along axis {} is infinity", axis) : "";
}

class Reasons {
 public:
  explicit Reasons(const EvaluatedNode& evaluated) : e_(evaluated), facts_(facts_of(e_.node, e_.model)) {
    exact_ = evaluate();
  }

  NonFiniteElement of(int64_t at) const {
    NonFiniteElement element{.index = index_of(e_.output.shape(), at), .value = number_at(e_.output, at)};
    add_operands(element);
    if (exact_.defined() && exact_.shape() == e_.output.shape() && is_float(exact_.dtype()))
      if (const double exact = number_at(exact_, at); std::isfinite(exact)) element.exact = exact;
    element.reason = reason_of(element);
    return element;
  }

 private:
  Tensor evaluate() const {
    const BoundOp op = bind_op(e_.node, e_.model);
    if (!op || has_subgraph(e_.node) || op.op->random) return {};
    for (size_t i = 0; i < e_.inputs.size(); ++i)
      if (e_.node.input(i) != nullptr && !e_.inputs[i].defined()) return {};
    try {
      return evaluate_exactly(e_.node, op, {e_.inputs.begin(), e_.inputs.end()}).at(e_.output_index);
    } catch (const Error&) {
      return {};
    }
  }

  bool is_number(size_t i) const {
    return i < e_.inputs.size() && e_.inputs[i].defined() && has_numbers(e_.inputs[i]);
  }

  void add_operands(NonFiniteElement& element) const {
    for (size_t i = 0; i < e_.inputs.size(); ++i) {
      if (!is_number(i) || e_.inputs[i].numel() == 0) continue;
      const Tensor& t = e_.inputs[i];
      ElementOperand operand{.tensor = e_.node.input(i)->name()};
      if (i < facts_.elementwise) {
        operand.index = broadcast_index(t.shape(), element.index);
        operand.value = number_at(t, flat_index(t.shape(), *operand.index));
      } else {
        const auto [least, largest] = extremes_of(t);
        operand.least = least;
        operand.largest = largest;
      }
      element.operands.push_back(std::move(operand));
    }
  }

  std::string reason_of(const NonFiniteElement& element) const {
    const DType dtype = e_.output.dtype();
    if (element.exact) {
      const double largest = float_range(dtype).largest;
      if (std::abs(*element.exact) > largest)
        return fmt::format("{} is beyond the largest {}, {}", format_g(*element.exact, 6), dtype_name(dtype),
                           format_g(largest, 6));
      return fmt::format(
          "in exact arithmetic it is {}: it overflows on the way there, or is computed wrongly",
          format_g(*element.exact, 6));
    }
    if (const std::string known = of_definition(element); !known.empty()) return known;
    if (has_infinite_operands()) return "it computes with infinite operands";
    return exact_.defined() ? "in exact arithmetic the operator gives no number either"
                            : "the operator cannot be evaluated here on these operands";
  }

  std::string of_definition(const NonFiniteElement& element) const {
    const auto& operands = element.operands;
    const bool is_elementwise = !operands.empty() && operands[0].index;
    if (const std::optional<PointwiseCode> code = pointwise_code(e_.node, e_.model); code && is_elementwise) {
      const double y = operands.size() > 1 ? operands[1].value : 0;
      std::string reason = of_operands(code->op, operands[0].value, y);
      if (reason.empty() && std::isfinite(operands[0].value) && std::isinf(element.value))
        reason = fmt::format("beyond the largest {}", dtype_name(e_.output.dtype()));
      return reason;
    }
    if (!e_.inputs.empty()) return along_axis(e_, facts_, e_.inputs[0], element.index);
    return "";
  }

  bool has_infinite_operands() const {
    for (size_t i = 0; i < e_.inputs.size(); ++i) {
      if (!is_number(i)) continue;
      const auto [least, largest] = extremes_of(e_.inputs[i]);
      if (std::isinf(least) || std::isinf(largest)) return true;
    }
    return false;
  }

  const EvaluatedNode& e_;
  const OpFacts& facts_;
  Tensor exact_;  ///< undefined: not known
};

}  // namespace

std::vector<NonFiniteElement> explain_elements(const EvaluatedNode& evaluated, std::span<const int64_t> at) {
  const Reasons reasons(evaluated);
  std::vector<NonFiniteElement> elements;
  for (const int64_t place : at) elements.push_back(reasons.of(place));
  return elements;
}

}  // namespace assay::debug
