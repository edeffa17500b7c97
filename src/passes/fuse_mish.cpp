// x * Tanh(Softplus(x)) becomes a Mish region.
#include "analysis/match.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay::pass_fuse_mish {
namespace {

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Mul") || dtype_of(n.output(0)) != DType::kFloat32) return std::nullopt;
  for (Value* t : n.inputs()) {
    const Node* tanh = producer_of(t, "Tanh");
    if (tanh == nullptr || context.sole_consumer(t) != &n) continue;
    const Node* softplus = producer_of(tanh->input(0), "Softplus");
    if (softplus == nullptr || context.sole_consumer(tanh->input(0)) != tanh) continue;
    Value* x = softplus->input(0);
    if (other_input(n, t) != x) continue;
    const Node* const nodes[] = {softplus, tanh, &n};
    return make_region(kMish, nodes, context, std::span(&x, 1));
  }
  return std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_mish",
    .summary = "x * Tanh(Softplus(x)) becomes one activation",
    .conditions = "float32. Nothing else uses what lies between.",
    .match = match,
};

}  // namespace assay::pass_fuse_mish
