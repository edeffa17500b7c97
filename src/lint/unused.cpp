#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "graph/function_index.h"
#include "graph/order.h"
#include "lint/operators.h"
#include "ops/check.h"

namespace assay::lint {
namespace {

/// Nodes and values that the outputs depend on.
struct Live {
  std::unordered_set<const Node*> nodes;
  std::unordered_set<const Value*> values;
};

Live find_live(const Graph& g) {
  Live live;
  std::vector<const Value*> queue(g.outputs.begin(), g.outputs.end());
  while (!queue.empty()) {
    const Value* v = queue.back();
    queue.pop_back();
    if (!live.values.insert(v).second) continue;
    const Node* n = v->producer();
    if (n == nullptr || !live.nodes.insert(n).second) continue;
    for (const Value* used : used_values(*n)) queue.push_back(used);
  }
  return live;
}

/// Functions that the model calls, also from subgraphs and other functions.
std::unordered_set<const Function*> collect_calls(const Model& model) {
  const FunctionIndex functions(model);
  std::unordered_set<const Function*> called;
  std::vector<const Graph*> open = {model.graph.get()};
  while (!open.empty()) {
    const Graph& g = *open.back();
    open.pop_back();
    for (const auto& n : g.nodes()) {
      const Function* f = functions.called(*n);
      if (f != nullptr && called.insert(f).second) open.push_back(f->body.get());
      for (const Attribute& a : n->attributes) {
        if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) open.push_back(sub->get());
        if (const auto* list = a.get_if<Attribute::Graphs>())
          for (const auto& sub : *list) open.push_back(sub.get());
      }
    }
  }
  return called;
}

}  // namespace

std::vector<const Node*> used_nodes(const Graph& graph) {
  const Live live = find_live(graph);
  std::vector<const Node*> nodes;
  for (const auto& n : graph.nodes())
    if (live.nodes.contains(n.get())) nodes.push_back(n.get());
  return nodes;
}

void check_unused(const Graph& graph, const std::vector<std::string>& inputs, Report& report) {
  const Live live = find_live(graph);
  std::vector<std::string> unused;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(unused), [&](const std::string& name) {
    const Value* v = graph.find_value(name);
    return v != nullptr && !v->is_constant() && !live.values.contains(v);
  });
  std::sort(unused.begin(), unused.end());
  for (const std::string& name : unused) report.add(kUnusedInput, {}, name);
  std::vector<const Node*> nodes;
  for (const auto& n : graph.nodes())
    if (!live.nodes.contains(n.get())) nodes.push_back(n.get());
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const Node* a, const Node* b) { return a->name < b->name; });
  for (const Node* n : nodes) report.add(kUnusedNode, {n->name, n->op_type, {}});
}

void check_unused_definitions(const Model& model, Report& report) {
  if (const std::string unknown = find_unknown_opset(model); !unknown.empty())
    report.add(kNewOpset, {}, unknown);
  const Graph& g = *model.graph;
  std::unordered_set<const Value*> used(g.outputs.begin(), g.outputs.end());
  for (const auto& n : g.nodes())
    for (const Value* v : used_values(*n)) used.insert(v);
  for (const auto& v : g.values())
    if (v->is_constant() && !used.contains(v.get())) report.add(kUnusedInitializer, {}, v->name());
  const std::unordered_set<const Function*> called = collect_calls(model);
  for (const Function& f : model.functions)
    if (!called.contains(&f)) report.add(kUnusedFunction, {}, f.name, f.domain);
}

}  // namespace assay::lint
