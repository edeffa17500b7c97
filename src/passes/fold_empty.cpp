// Results without elements are known whatever the inputs are: their nodes go, among them the products of an
// expert that no token was routed to. A node that could complain of its inputs is left to do so.
#include <algorithm>
#include <unordered_set>

#include "analysis/match.h"
#include "passes/never_fails.h"
#include "passes/pass_list.h"

namespace assay::pass_fold_empty {
namespace {

bool is_empty(const Value* v) {
  if (v == nullptr) return true;
  const std::optional<Shape> shape = shape_of(v);
  return shape && shape->numel() == 0 && bit_width(dtype_of(v)) != 0;
}

bool gives_nothing(const Node& n, const Model& model) {
  const auto& outputs = n.outputs();
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), is_empty) && never_fails(n, model);
}

bool run(Model& model) {
  Graph& g = *model.graph;
  std::unordered_set<const Node*> gone;
  for (const auto& n : g.nodes()) {
    if (!gives_nothing(*n, model)) continue;
    const std::vector<Value*> outputs = n->outputs();
    n->set_inputs({});
    n->set_outputs({});
    for (Value* v : outputs)
      if (v != nullptr) v->set_tensor(Tensor::zeros(dtype_of(v), *shape_of(v)));
    gone.insert(n.get());
  }
  g.remove_nodes_if([&](const Node& n) { return gone.contains(&n); });
  return !gone.empty();
}

}  // namespace

constinit const PassDef def = {
    .name = "fold_empty",
    .summary = "results without elements become constants",
    .conditions =
        "The extents of every result are numbers, one of them 0, and its type is one of numbers. The node is "
        "a "
        "function of elements, a product (MatMul, Gemm), a Transpose, or one of a module that says that its "
        "operator never fails; divisions of integers are left.",
    .run = run,
};

}  // namespace assay::pass_fold_empty
