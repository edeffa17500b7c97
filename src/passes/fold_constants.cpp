// Nodes whose results do not depend on the inputs are computed now, by their operators' plain evaluation.
#include <algorithm>
#include <unordered_set>

#include "analysis/match.h"
#include "analysis/nbits_matrix.h"
#include "assay/fold.h"
#include "assay/interrupt.h"
#include "ops/node_facts.h"
#include "ops/work.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"

namespace assay::pass_fold_constants {
namespace {

/// A result larger than this stays a node unless its inputs are about as large.
constexpr int64_t kMaxBytes = int64_t{1} << 30;
/// Where the size of a result is not known before, only small inputs are evaluated.
constexpr int64_t kMaxUnknownInput = 1 << 16;

bool is_small_enough(const Node& n, const Model& model) {
  int64_t in = 0;
  for (const Value* v : n.inputs())
    if (v != nullptr) in += static_cast<int64_t>(v->tensor().nbytes());
  for (const Value* v : n.outputs()) {
    if (v == nullptr) continue;
    const std::optional<Shape> shape = shape_of(v);
    if (!shape) {
      if (facts_of(n, model).may_grow || in > kMaxUnknownInput) return false;
    } else if (static_cast<int64_t>(storage_bytes(dtype_of(v), shape->numel())) >
               std::max(kMaxBytes, 2 * in)) {
      return false;
    }
  }
  return true;
}

/// Shape and Size need only the extents of their input.
std::optional<Tensor> extents_of(const Node& n) {
  const std::optional<Shape> shape = shape_of(n.input(0));
  if (!shape) return std::nullopt;
  if (is_op(n, "Size")) return Tensor::scalar(shape->numel());
  const int64_t rank = shape->rank();
  const auto bound = [&](std::string_view name, int64_t fallback) {
    const int64_t i = int_attribute(n, name, fallback);
    return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  return Tensor::vector(std::vector<int64_t>(shape->begin() + start, shape->begin() + end));
}

std::optional<std::vector<Tensor>> fold(const Node& n, const Model& model) {
  if ((is_op(n, "Shape") || is_op(n, "Size")) && n.outputs().size() == 1 && n.output(0) != nullptr)
    if (std::optional<Tensor> t = extents_of(n)) return std::vector<Tensor>{*t};
  const bool constant = std::all_of(n.inputs().begin(), n.inputs().end(),
                                    [](const Value* v) { return v == nullptr || v->tensor().defined(); });
  if (!constant || has_subgraph(n) || stays_packed(n)) return std::nullopt;
  const BoundOp op = bind_op(n, model);
  if (!op || op.op->random || !is_small_enough(n, model) || work_estimate(n, op.op) > kMaxFoldWork)
    return std::nullopt;
  std::vector<Tensor> inputs;
  for (const Value* v : n.inputs()) inputs.push_back(v != nullptr ? v->tensor().aligned() : Tensor());
  std::vector<Tensor> results = evaluate_node(n, op, std::move(inputs));
  // A sequence or optional cannot be an initializer.
  if (std::any_of(results.begin(), results.end(), [](const Tensor& t) { return t.is_container(); }))
    return std::nullopt;
  return results;
}

bool run(Model& model) {
  Graph& g = *model.graph;
  std::unordered_set<const Node*> folded;
  for (const auto& n : g.nodes()) {
    stop_if_interrupted();
    std::optional<std::vector<Tensor>> results = fold(*n, model);
    if (!results) continue;
    const std::vector<Value*> outputs = n->outputs();
    n->set_inputs({});
    n->set_outputs({});
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] != nullptr) outputs[i]->set_tensor(std::move((*results)[i]));
    folded.insert(n.get());
  }
  g.remove_nodes_if([&](const Node& n) { return folded.contains(&n); });
  return !folded.empty();
}

}  // namespace

constinit const PassDef def = {
    .name = "fold_constants",
    .summary = "what does not depend on the inputs is computed at build time",
    .conditions =
        "All inputs are constants (Shape and Size need only extents that are numbers), the operator is "
        "known, without subgraph and without random numbers, and the result is no larger than 1 GiB or twice "
        "its inputs. DequantizeLinear of 4,096 elements of at most 8 bits or more stays where only products "
        "of "
        "floating-point numbers read it.",
    .run = run,
};

}  // namespace assay::pass_fold_constants
