// A Concat of Concats along the same axis becomes one.
#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_merge_concats {
namespace {

/// The Concat along the axis that gives `v` to `user` only; null when there is none.
const Node* inner_concat(const Value* v, const Node& user, int64_t axis, const PassContext& context) {
  const Node* inner = context.sole_consumer(v) == &user ? producer_of(v, "Concat") : nullptr;
  return inner != nullptr && concat_axis(*inner) == axis ? inner : nullptr;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const std::optional<int64_t> axis = concat_axis(n);
  if (!axis || n.output(0) == nullptr) return std::nullopt;
  // A chain is merged at its last one, in one go.
  const Node* next = context.sole_consumer(n.output(0));
  if (next != nullptr && inner_concat(n.output(0), *next, *axis, context) != nullptr &&
      concat_axis(*next) == axis)
    return std::nullopt;
  Patch patch(n);
  std::vector<Patch::Ref> inputs;
  std::vector<std::pair<const Node*, size_t>> open = {{&n, 0}};
  while (!open.empty()) {
    auto& [at, i] = open.back();
    if (i == at->inputs().size()) {
      if (at != &n) patch.remove(*at);
      open.pop_back();
      continue;
    }
    Value* v = at->input(i++);
    if (const Node* inner = inner_concat(v, *at, *axis, context))
      open.emplace_back(inner, 0);
    else
      inputs.emplace_back(v);
  }
  if (patch.removed().empty()) return std::nullopt;
  patch.remove(n);
  patch.set_name(n.name);
  patch.add("Concat", std::move(inputs), {{"axis", int_attribute(n, "axis", 1)}}, n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_concats",
    .summary = "a Concat of Concats along the same axis becomes one",
    .conditions = "The same axis, and nothing else uses the inner Concat.",
    .match = match,
};

}  // namespace assay::pass_merge_concats
