#include "arbiter/specials.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "graph/order.h"
#include "graph/read.h"
#include "ops/node_facts.h"
#include "tensor/container.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Reach = ComparisonFact::Reach;

/// Scatter keeps the larger or the smaller of what meets in one place.
constexpr ComparisonFact kScatteredMax = {Reach::kLargest}, kScatteredMin = {Reach::kSmallest};

bool is_special(double x, bool infinities) { return std::isnan(x) || (infinities && std::isinf(x)); }

bool looks_at(const ComparisonFact& c, size_t input) { return input >= c.first && input - c.first < c.count; }

bool chooses(const ComparisonFact& c, const Trial& trial) {
  for (size_t i = 0; i < trial.inputs().size(); ++i)
    if (looks_at(c, i) && has_special(trial.inputs()[i], c.infinities)) return true;
  return false;
}

/// `value` where the number has no order, else 0.
Tensor marks(const Tensor& t, const ComparisonFact& c, double value) {
  return convert(
      map_elements<double>(to_float64(t),
                           [&, value](double x) { return is_special(x, c.infinities) ? value : 0.0; }),
      t.dtype());
}

bool is_number_input(const Tensor& t) { return t.defined() && !t.is_container() && is_float(t.dtype()); }

Tensor marked_elements(const ComparisonFact& c, const Trial& trial, const Shape& shape) {
  Tensor marked = Tensor::allocate(DType::kFloat64, shape);
  std::ranges::fill(marked.mutable_span<double>(), 0.0);
  for (size_t i = 0; i < trial.inputs().size(); ++i) {
    if (!looks_at(c, i) || !is_number_input(trial.inputs()[i])) continue;
    marked = map_broadcast<double>(marked, to_float64(marks(trial.inputs()[i], c, 1)),
                                   [](double a, double b) { return std::max(a, b); });
  }
  return marked;
}

/// The operator's own maximum of marks.
Tensor marked_windows(const ComparisonFact& c, const Trial& trial, double value) {
  std::vector<Tensor> inputs = trial.inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (looks_at(c, i) && is_number_input(inputs[i])) inputs[i] = marks(inputs[i], c, value);
  constexpr size_t kChosen = 0;  // what MaxPool's indices belong to
  const Tensor y = trial.evaluate(std::move(inputs), nullptr, kChosen);
  return y.defined() && is_float(y.dtype()) ? to_float64(y) : Tensor();
}

/// The axis that a node chooses along, and how many numbers of a result belong to each choice: before opset
/// 13 Hardmax took all from the axis on as one.
struct Choice {
  Choice(const Trial& trial, const Shape& x) {
    const Node& n = trial.node();
    const bool flat = n.op_type == "Hardmax" && trial.since() < 13;
    const int64_t usual = n.op_type == "TopK" || (n.op_type == "Hardmax" && !flat) ? -1 : flat ? 1 : 0;
    const auto rank = static_cast<int64_t>(x.size());
    const int64_t given = int_attribute(n, "axis", usual), axis = given < 0 ? given + rank : given;
    extent = 1;
    if (axis < 0 || axis >= rank) return;
    const auto at = static_cast<size_t>(axis);
    extent = flat ? x.numel(at, x.size()) : x[at];
    inner = flat ? 1 : x.numel(at + 1, x.size());
  }
  int64_t extent, inner = 1;
};

Tensor marked_along_axis(const ComparisonFact& c, const Trial& trial, const Shape& shape) {
  const Tensor& x = trial.inputs().at(0);
  const Choice choice(trial, x.shape());
  Tensor marked = Tensor::allocate(DType::kFloat64, shape);
  std::ranges::fill(marked.mutable_span<double>(), 0.0);
  const int64_t chosen = choice.extent == 0 ? 0 : x.numel() / choice.extent;
  if (chosen == 0 || choice.inner == 0 || marked.numel() % chosen != 0) return {};
  const int64_t each = marked.numel() / chosen;
  std::vector<bool> open(static_cast<size_t>(chosen));
  const auto choice_of = [&](int64_t i, int64_t extent) {
    return static_cast<size_t>(i / (extent * choice.inner) * choice.inner + i % choice.inner);
  };
  const Tensor special = to_float64(marks(x, c, 1));
  for (int64_t i = 0; i < x.numel(); ++i)
    if (special.data<double>()[i] != 0) open[choice_of(i, choice.extent)] = true;
  for (int64_t i = 0; i < marked.numel(); ++i)
    if (open[choice_of(i, each)]) marked.mutable_data<double>()[i] = 1;
  return marked;
}

Tensor marked(const ComparisonFact& c, const Trial& trial, const Shape& shape) {
  try {
    switch (c.reach) {
      case Reach::kElement:
        return marked_elements(c, trial, shape);
      case Reach::kAxis:
        return marked_along_axis(c, trial, shape);
      case Reach::kLargest:
        return marked_windows(c, trial, 1);
      case Reach::kSmallest:
        return marked_windows(c, trial, -1);
      case Reach::kNone:
      case Reach::kAll:
        break;
    }
  } catch (const Error&) {  // shapes that do not belong together: the runner's own
  }
  return {};
}

void add(SpecialReach& reach, const ComparisonFact& c, const Trial& trial, const Shape& shape) {
  if (!chooses(c, trial)) return;
  reach.any = true;
  if (c.reach == Reach::kAll) {
    reach.all = true;
    return;
  }
  const Tensor found = marked(c, trial, shape);
  if (!found.defined() || found.shape() != shape) return;
  reach.elements =
      reach.elements.defined()
          ? map_broadcast<double>(reach.elements, found, [](double a, double b) { return a != 0 ? a : b; })
          : found;
}

/// What a body chooses is not looked into.
bool feeds_bodies(const SuspectNode& suspect) {
  return std::ranges::any_of(used_values(suspect.node), [&](const Value* v) {
    return !v->is_constant() && has_special(suspect.own(*v), false);
  });
}

}  // namespace

bool has_special(const Tensor& t, bool infinities) {
  if (!t.defined()) return false;
  bool found = false;
  for_each_leaf(t, [&](const Tensor& leaf) {
    if (found || !is_float(leaf.dtype())) return;
    const Tensor wide = to_float64(leaf);
    found = std::ranges::any_of(wide.span<double>(), [=](double x) { return is_special(x, infinities); });
  });
  return found;
}

SpecialReach reach_of_specials(const SuspectNode& suspect, const Trial& trial, const Shape& shape) {
  SpecialReach reach;
  const Node& n = suspect.node;
  if (has_subgraph(n)) {
    reach.any = reach.all = feeds_bodies(suspect);
    return reach;
  }
  if (!trial.usable()) return reach;
  for (const ComparisonFact& c : facts_of(n, suspect.model).compares)
    if (c.reach != Reach::kNone) add(reach, c, trial, shape);
  if (const std::string_view how = string_attribute(n, "reduction", "none");
      n.op_type.starts_with("Scatter") && (how == "max" || how == "min"))
    add(reach, how == "max" ? kScatteredMax : kScatteredMin, trial, shape);
  return reach;
}

}  // namespace assay
