// A transposition of a transposition becomes one.
#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_merge_transposes {
namespace {

std::optional<Patch> match(const Node& n, const PassContext&) {
  if (!is_op(n, "Transpose")) return std::nullopt;
  const Node* first = producer_of(n.input(0), "Transpose");
  if (first == nullptr || n.output(0) == nullptr) return std::nullopt;
  const std::optional<std::vector<int64_t>> inner = permutation_of(*first), outer = permutation_of(n);
  if (!inner || !outer || inner->empty() || inner->size() != outer->size()) return std::nullopt;
  std::vector<int64_t> both;
  for (const int64_t axis : *outer) both.push_back((*inner)[static_cast<size_t>(axis)]);
  Patch patch(n);
  patch.remove(n);
  patch.add("Transpose", {first->input(0)}, {{"perm", both}}, n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_transposes",
    .summary = "a transposition of a transposition becomes one",
    .conditions = "Both permutations are known and of one length.",
    .match = match,
};

}  // namespace assay::pass_merge_transposes
