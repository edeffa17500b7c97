// Of nodes that compute the same from the same inputs, the first is kept; in the bodies of control flow, too.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "assay/edit.h"
#include "graph/input_replacer.h"
#include "passes/match.h"
#include "passes/origins.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"

namespace assay::pass_eliminate_common_subexpressions {
namespace {

/// Constants of at most so many bytes are compared by their contents.
constexpr size_t kMaxCompared = 64;
/// Nodes with longer lists as attributes (trees) are not compared: they would be copied for each comparison.
constexpr size_t kMaxListed = 64 << 10;

void append_bytes(std::string& key, const void* data, size_t bytes) {
  key.append(static_cast<const char*>(data), bytes);
  key += ';';
}

void append_value(std::string& key, const Value* v) {
  const UnalignedTensor* t = constant_of(v);
  if (t == nullptr || t->dtype() == DType::kString || t->nbytes() > kMaxCompared) {
    append_bytes(key, &v, sizeof v);
    return;
  }
  key += fmt::format("{}{}:", static_cast<int>(t->dtype()), t->shape().str());
  append_bytes(key, t->data(), t->nbytes());
}

/// False when the attribute is of a kind, or a length, that is not compared.
bool append_attribute(std::string& key, const Attribute& a) {
  key += a.name + '=';
  if (const auto* f = a.get_if<float>())
    append_bytes(key, f, sizeof *f);
  else if (const auto* i = a.get_if<int64_t>())
    key += fmt::format("{};", *i);
  else if (const auto* s = a.get_if<std::string>())
    key += *s + ';';
  else if (const auto* list = a.get_if<std::vector<int64_t>>(); list != nullptr && list->size() <= kMaxListed)
    append_bytes(key, list->data(), list->size() * sizeof(int64_t));
  else if (const auto* floats = a.get_if<std::vector<float>>();
           floats != nullptr && floats->size() <= kMaxListed)
    append_bytes(key, floats->data(), floats->size() * sizeof(float));
  else
    return false;
  return true;
}

/// Operators of two inputs whose order means nothing.
bool commutes(const Node& n) {
  for (const char* op : {"Add", "Mul", "And", "Or", "Xor", "Equal"})
    if (is_op(n, op)) return true;
  return false;
}

/// Equal keys, equal results. Nothing for nodes that must not be merged.
std::optional<std::string> key_of(const Node& n, const Model& model) {
  const BoundOp op = bind_op(n, model);
  if (!op || op.op->random) return std::nullopt;
  std::string key = n.domain + '/' + n.op_type + '/' + std::to_string(n.outputs().size()) + '/';
  std::vector<std::string> inputs;
  for (const Value* v : n.inputs()) append_value(inputs.emplace_back(), v);
  if (commutes(n)) std::sort(inputs.begin(), inputs.end());
  for (const std::string& input : inputs) key += input;
  std::vector<const Attribute*> sorted;
  for (const Attribute& a : n.attributes) sorted.push_back(&a);
  std::sort(sorted.begin(), sorted.end(),
            [](const Attribute* a, const Attribute* b) { return a->name < b->name; });
  for (const Attribute* a : sorted)
    if (!append_attribute(key, *a)) return std::nullopt;
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
    bool replaceable = true;
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
    .run = run,
};

}  // namespace assay::pass_eliminate_common_subexpressions
