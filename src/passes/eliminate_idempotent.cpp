// Nodes without effect because of the node before: Relu of Relu, Abs of Abs, ..., Clip of the same Clip;
// and a Relu before or after a Clip that has it in its bounds.
#include "analysis/clip_bounds.h"
#include "analysis/match.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"

namespace assay::pass_eliminate_idempotent {
namespace {

bool is_idempotent(const Node& n, const Model& model) {
  if (is_op(n, "ThresholdedRelu")) return float_attribute(n, "alpha", 1) >= 0;
  return facts_of(n, model).idempotent;
}

bool same_attributes(const Node& a, const Node& b) {
  for (const char* name : {"min", "max", "alpha"})
    if (float_attribute(a, name, 0) != float_attribute(b, name, 0) ||
        (a.find_attribute(name) == nullptr) != (b.find_attribute(name) == nullptr))
      return false;
  return true;
}

bool same_bounds(const Node& a, const Node& b) {
  return a.input(1) == b.input(1) && a.input(2) == b.input(2) && same_attributes(a, b);
}

/// A Clip that cuts off all that a Relu before it does: whatever its upper bound is, it takes the larger of x
/// and the lower one first.
bool cuts_negatives(const Node& n) {
  if (!is_op(n, "Clip")) return false;
  if (n.find_attribute("min") != nullptr) return float_attribute(n, "min", -1) >= 0;
  const std::optional<double> low = scalar_of(n.input(1));
  return low && *low >= 0;
}

/// Whether `n` gives back what `before` gives.
bool changes_nothing_after(const Node& n, const Node& before, const Model& model) {
  const bool again =
      before.op_type == n.op_type && canonical_domain(before.domain) == canonical_domain(n.domain);
  if (again && is_idempotent(n, model) && same_attributes(n, before)) return true;
  if (is_op(n, "Clip") && is_op(before, "Clip")) return same_bounds(n, before);
  return is_op(n, "Relu") && gives_no_negative(before, model);
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  Value *x = n.input(0), *y = n.output(0);
  if (x == nullptr || y == nullptr || x->producer() == nullptr || &x->producer()->graph() != &x->graph())
    return std::nullopt;
  const Node& before = *x->producer();
  Patch patch(n);
  if (changes_nothing_after(n, before, context.model) && context.can_replace(y, x)) {
    patch.remove(n);
    patch.replace(y, x);
    return patch;
  }
  if (!cuts_negatives(n) || !is_op(before, "Relu") || context.sole_consumer(x) != &n) return std::nullopt;
  AttributeList attributes;
  for (const Attribute& a : n.attributes) attributes.emplace_back(a.name, a.data);
  std::vector<Patch::Ref> inputs = {before.input(0)};
  for (size_t i = 1; i < n.inputs().size(); ++i) inputs.emplace_back(n.input(i));
  patch.remove(before);
  patch.remove(n);
  patch.set_name(n.name);
  patch.add("Clip", std::move(inputs), std::move(attributes), y);
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "eliminate_idempotent",
    .summary = "what the node before has done already is not done again: Relu of Relu, Clip of Clip",
    .conditions =
        "Abs, Ceil, Floor, Relu, Round, Sign, and ThresholdedRelu with alpha of at least 0, behind the same "
        "operator. A Clip behind a Clip with the same bounds. A Relu behind Relu, Sigmoid, or a Clip whose "
        "bounds are both constants of at least 0 (where min is above max, max wins). A Relu whose only use "
        "is a Clip with a constant min of at least 0.",
    .match = match,
};

}  // namespace assay::pass_eliminate_idempotent
