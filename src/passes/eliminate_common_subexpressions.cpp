// Of nodes that compute the same from the same inputs, the first is kept; in the bodies of control flow, too.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "analysis/node_key.h"
#include "assay/edit.h"
#include "graph/input_replacer.h"
#include "naming/origins.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"

namespace assay::pass_eliminate_common_subexpressions {
namespace {

void append_value(std::string& key, const Value* v) {
  if (append_small_constant(key, v)) return;
  key.append(reinterpret_cast<const char*>(&v), sizeof v);
  key += ';';
}

/// Equal keys, equal results. Nothing for nodes that must not be merged.
std::optional<std::string> key_of(const Node& n, const Model& model) {
  const BoundOp op = bind_op(n, model);
  if (!op || op.op->random) return std::nullopt;
  std::string key = n.domain + '/' + n.op_type + '/' + std::to_string(n.outputs().size()) + '/';
  std::vector<std::string> inputs;
  for (const Value* v : n.inputs()) append_value(inputs.emplace_back(), v);
  if (op.op->facts.commutative) std::sort(inputs.begin(), inputs.end());
  for (const std::string& input : inputs) key += input;
  if (!append_attributes(key, n)) return std::nullopt;
  return key;
}

bool merge(Graph& g, const PassContext& context) {
  std::unordered_map<std::string, Node*> first;
  InputReplacer uses;
  std::unordered_map<Node*, Origins> origins;  // of those that are kept for others, too
  std::unordered_set<const Node*> duplicates;
  for (const auto& n : g.nodes()) {
    const std::optional<std::string> key = key_of(*n, context.model);
    if (!key) continue;
    Node*& kept = first[*key];
    if (kept == nullptr) {
      kept = n.get();
      continue;
    }
    bool replaceable = !are_held_apart({kept, n.get()});
    for (size_t i = 0; i < n->outputs().size(); ++i) {
      const Value *from = n->output(i), *to = kept->output(i);
      replaceable = replaceable && (from == nullptr || (to != nullptr && !context.is_pinned(from)));
    }
    if (!replaceable) continue;
    for (size_t i = 0; i < n->outputs().size(); ++i)
      if (n->output(i) != nullptr) uses.replace(*n->output(i), kept->output(i));
    const auto [all, is_new] = origins.try_emplace(kept);
    if (is_new) all->second.add(origins_of(*kept));
    all->second.add(origins_of(*n));
    if (held_type(*kept).empty()) set_held_type(*kept, std::string(held_type(*n)));
    duplicates.insert(n.get());
  }
  for (const auto& [kept, all] : origins) set_origins(*kept, all.names());
  g.remove_nodes_if([&](const Node& n) { return duplicates.contains(&n); });
  return !duplicates.empty();
}

bool run(Model& model) {
  const PassContext context(model);
  bool changed = merge(*model.graph, context);
  for (Graph* g : subgraphs(*model.graph, /*recursive=*/true)) changed = merge(*g, context) || changed;
  return changed;
}

}  // namespace

constinit const PassDef def = {
    .name = "eliminate_common_subexpressions",
    .summary = "nodes that compute the same from the same inputs are merged",
    .conditions =
        "Same operator, opset, attributes (bytes), inputs (in any order for Add, Mul, And, Or, Xor and "
        "Equal; constants of up to 64 bytes by contents) and number of outputs; no subgraph, no random "
        "numbers; the removed one's results are no outputs of a graph.",
    .run = run,
};

}  // namespace assay::pass_eliminate_common_subexpressions
