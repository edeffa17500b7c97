// Flatten, Squeeze, Unsqueeze and Reshape with known results become Reshape to a constant shape, and a
// Reshape of a Reshape becomes one. A transposition that only moves dimensions of extent 1 is such a view
// too.
#include "analysis/extents.h"
#include "analysis/match.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"

namespace assay::pass_canonicalize_views {
namespace {

/// True when the dimensions of extent above 1 keep their order.
bool moves_only_ones(const Node& n, const Shape& in) {
  const std::optional<std::vector<int64_t>> perm = permutation_of(n);
  if (!perm) return false;
  int64_t last = -1;
  for (const int64_t axis : *perm) {
    if (in[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

/// True for a Reshape whose shape input is exactly the shape of its output.
bool is_canonical(const Node& n, const Shape& out) {
  if (!is_op(n, "Reshape")) return false;
  const std::optional<std::vector<int64_t>> shape = integers_of(n.input(1));
  return shape && Shape(*shape) == out;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (n.output(0) == nullptr || context.model.opset() < 5) return std::nullopt;
  const std::optional<Shape> in = shape_of(n.input(0)), out = shape_of(n.output(0));
  // A shape with 0 would be read as "keep the extent".
  if (!in || !out || in->numel() == 0) return std::nullopt;
  const bool is_view = facts_of(n, context.model).is_view() && !is_op(n, "Identity");
  if (!is_view && !(is_op(n, "Transpose") && moves_only_ones(n, *in))) return std::nullopt;
  const Node* before = producer_of(n.input(0), "Reshape");
  if (before == nullptr && is_canonical(n, *out)) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  Value* source = before != nullptr ? before->input(0) : n.input(0);
  patch.add("Reshape", {source, patch.constant(n.output(0)->name() + "/shape", Tensor::vector(out->dims()))},
            {}, n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "canonicalize_views",
    .summary = "Flatten, Squeeze, Unsqueeze and chains of them become one Reshape",
    .conditions =
        "Opset 5 or later. The extents of input and result are numbers, and none is 0, which a Reshape would "
        "read as 'keep the extent'. A Transpose moves only axes of extent 1.",
    .match = match,
};

}  // namespace assay::pass_canonicalize_views
