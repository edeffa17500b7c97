// A chain of Reshape, Flatten, Squeeze, Unsqueeze and of transpositions that only move extents of 1 becomes
// one Reshape, or nothing when it gives back what it got.
#include <algorithm>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"

namespace assay::pass_merge_views {
namespace {

/// True when the extents other than 1 keep their order.
bool moves_only_ones(const Node& n, const Dims& in) {
  const std::optional<std::vector<int64_t>> perm = permutation_of(n);
  if (!perm) return false;
  int64_t last = -1;
  for (const int64_t axis : *perm) {
    const Dim& d = in[static_cast<size_t>(axis)];
    if (d.is_known() && d.value() == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool is_view(const Node& n, const Model& model) {
  if (facts_of(n, model).is_view() && !is_op(n, "Identity")) return true;
  const Dims* in = dims_of(n.input(0));
  return is_op(n, "Transpose") && in != nullptr && moves_only_ones(n, *in);
}

/// The view that gives the node's input; null when there is none in the same graph.
const Node* view_before(const Node& n, const Model& model) {
  const Value* v = n.input(0);
  const Node* before = v != nullptr ? v->producer() : nullptr;
  return before != nullptr && &before->graph() == &v->graph() && is_view(*before, model) ? before : nullptr;
}

/// The shape of a Reshape that holds whatever comes in: a constant without zeros.
std::optional<std::vector<int64_t>> absolute_target(const Node& n) {
  if (!is_op(n, "Reshape")) return std::nullopt;
  std::optional<std::vector<int64_t>> shape = integers_of(n.input(1));
  return shape && std::find(shape->begin(), shape->end(), 0) == shape->end() ? shape : std::nullopt;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (context.model.opset() < 5 || n.output(0) == nullptr || !is_view(n, context.model)) return std::nullopt;
  const Node* before = view_before(n, context.model);
  if (before == nullptr || before->input(0) == nullptr) return std::nullopt;
  Value *source = before->input(0), *out = n.output(0);
  Patch patch(n);
  patch.remove(n);
  if (same_dims(source, out) && context.can_replace(out, source)) {
    patch.replace(out, source);
    return patch;
  }
  // With another use the view before stays, and one for another would be nothing gained.
  if (context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  const Dims* dims = dims_of(out);
  std::optional<std::vector<int64_t>> target =
      dims != nullptr ? reshape_target(dims_of(source), *dims) : std::nullopt;
  if (!target) target = absolute_target(n);
  if (!target) return std::nullopt;
  patch.remove(*before);
  patch.add("Reshape", {source, patch.constant(out->name() + "/shape", Tensor::vector(*target))}, {}, out);
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_views",
    .summary = "chains of Reshape, Flatten, Squeeze and Unsqueeze become one Reshape",
    .conditions =
        "Opset 5 or later. The extents of the result are numbers, or extents of the source in their places, "
        "one other at most, none 0; or the last Reshape has a constant target without zeros. A Transpose "
        "moves only axes of extent 1. Open extents are at least 1.",
    .match = match,
};

}  // namespace assay::pass_merge_views
