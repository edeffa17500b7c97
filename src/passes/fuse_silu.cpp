// x * Sigmoid(x) becomes a Silu region.
#include "analysis/match.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay::pass_fuse_silu {
namespace {

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Mul") || dtype_of(n.output(0)) != DType::kFloat32) return std::nullopt;
  for (Value* s : n.inputs()) {
    const Node* sigmoid = producer_of(s, "Sigmoid");
    if (sigmoid == nullptr || context.sole_consumer(s) != &n) continue;
    Value* x = sigmoid->input(0);
    if (other_input(n, s) != x) continue;
    const Node* const nodes[] = {sigmoid, &n};
    return make_region(kSilu, nodes, context, std::span(&x, 1));
  }
  return std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_silu",
    .summary = "x * Sigmoid(x) becomes one activation",
    .conditions = "float32. Nothing else uses the Sigmoid.",
    .match = match,
};

}  // namespace assay::pass_fuse_silu
