// A Concat of Concats along the same axis becomes one.
#include "passes/extents.h"
#include "passes/match.h"
#include "passes/pass_list.h"

namespace assay {
namespace {

/// Along which axis, from the front when the rank is known; nothing for another operator.
std::optional<int64_t> concat_axis(const Node& n) {
  if (!is_op(n, "Concat")) return std::nullopt;
  const int64_t axis = int_attribute(n, "axis", 1);
  const auto front = from_front({axis}, rank_of(n.output(0)));
  return front ? (*front)[0] : axis;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const std::optional<int64_t> axis = concat_axis(n);
  if (!axis) return std::nullopt;
  Patch patch(n);
  std::vector<Patch::Ref> inputs;
  bool merges = false;
  for (Value* v : n.inputs()) {
    const Node* inner = v != nullptr && context.sole_consumer(v) == &n ? producer_of(v, "Concat") : nullptr;
    if (inner == nullptr || concat_axis(*inner) != axis) {
      inputs.emplace_back(v);
      continue;
    }
    for (Value* part : inner->inputs()) inputs.emplace_back(part);
    patch.remove(*inner);
    merges = true;
  }
  if (!merges) return std::nullopt;
  patch.remove(n);
  patch.set_name(n.name);
  patch.add("Concat", std::move(inputs), {{"axis", int_attribute(n, "axis", 1)}}, n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef pass_merge_concats = {
    .name = "merge_concats",
    .summary = "a Concat of Concats along the same axis becomes one",
    .match = match,
};

}  // namespace assay
