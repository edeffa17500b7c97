#include "assay/edit.h"

#include <algorithm>
#include <unordered_set>

#include "graph/order.h"

namespace assay {
namespace {

/// The graphs that are attributes of one node.
std::vector<Graph*> subgraphs_of(const Node& n) {
  std::vector<Graph*> list;
  for (const Attribute& a : n.attributes) {
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) list.push_back(g->get());
    if (const auto* graphs = a.get_if<Attribute::Graphs>())
      for (const auto& g : *graphs) list.push_back(g.get());
  }
  return list;
}

/// The nodes and inputs that the outputs depend on.
struct Reached {
  std::unordered_set<const Node*> nodes;
  std::unordered_set<const Value*> values;

  explicit Reached(const Graph& g) {
    std::vector<const Value*> open;
    const auto reach = [&](const Value* v) {
      if (v != nullptr && values.insert(v).second) open.push_back(v);
    };
    for (const Value* v : g.outputs) reach(v);
    while (!open.empty()) {
      const Value* v = open.back();
      open.pop_back();
      const Node* n = v->producer();
      if (n == nullptr || &n->graph() != &g || !nodes.insert(n).second) continue;
      for (const Value* used : used_values(*n)) reach(used);
    }
  }
};

void remove_unused_outputs(Graph& g, const CleanupOptions& options) {
  const std::unordered_set<const Value*> kept(g.outputs.begin(), g.outputs.end());
  for (const auto& n : g.nodes()) {
    std::vector<Value*> outputs = n->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Value* v = outputs[i];
      if (v == nullptr || !v->consumers().empty() || kept.contains(v)) continue;
      if (!options.is_optional_output || options.is_optional_output(*n, i)) outputs[i] = nullptr;
    }
    while (!outputs.empty() && outputs.back() == nullptr && n->outputs()[outputs.size() - 1] != nullptr)
      outputs.pop_back();
    if (outputs != n->outputs()) n->set_outputs(std::move(outputs));
  }
}

}  // namespace

std::vector<Value*> tensors(const Graph& graph) {
  std::vector<Value*> list;
  std::unordered_set<const Value*> seen;
  const auto add = [&](const std::vector<Value*>& values) {
    for (Value* v : values)
      if (v != nullptr && seen.insert(v).second) list.push_back(v);
  };
  add(graph.inputs);
  for (const auto& n : graph.nodes()) {
    add(n->inputs());
    add(n->outputs());
  }
  add(graph.outputs);
  return list;
}

std::vector<Graph*> subgraphs(const Graph& graph, bool recursive) {
  std::vector<Graph*> list;
  for (const auto& n : graph.nodes())
    for (Graph* g : subgraphs_of(*n)) {
      list.push_back(g);
      if (!recursive) continue;
      const std::vector<Graph*> inner = subgraphs(*g, true);
      list.insert(list.end(), inner.begin(), inner.end());
    }
  return list;
}

Node* producer_node(const Node& node, size_t input) {
  const Value* v = node.input(input);
  return v != nullptr ? v->producer() : nullptr;
}

Node* consumer_node(const Node& node, size_t which, size_t output) {
  const Value* v = node.output(output);
  return v != nullptr && which < v->consumers().size() ? v->consumers()[which] : nullptr;
}

void detach_from_producer(Value& value) {
  Node* n = value.producer();
  if (n == nullptr) return;
  const auto at = std::find(n->outputs().begin(), n->outputs().end(), &value);
  n->set_output(static_cast<size_t>(at - n->outputs().begin()), nullptr);
}

int64_t cleanup(Graph& graph, const CleanupOptions& options) {
  int64_t removed = 0;
  if (options.recurse_subgraphs)
    for (Graph* g : subgraphs(graph)) removed += cleanup(*g, options);
  for (Value* v : graph.inputs) {
    Node* n = v->producer();
    if (n == nullptr) continue;
    std::vector<Value*> outputs = n->outputs();
    std::replace(outputs.begin(), outputs.end(), v, static_cast<Value*>(nullptr));
    n->set_outputs(std::move(outputs));
  }
  const Reached reached(graph);
  std::vector<Node*> kept;
  for (const auto& n : graph.nodes())
    if (reached.nodes.contains(n.get())) kept.push_back(n.get());
  if (const size_t unused = graph.nodes().size() - kept.size(); unused > 0) {
    removed += static_cast<int64_t>(unused);
    graph.reorder_nodes(kept);
  }
  if (options.remove_unused_graph_inputs)
    std::erase_if(graph.inputs, [&](const Value* v) { return !reached.values.contains(v); });
  if (options.remove_unused_node_outputs) remove_unused_outputs(graph, options);
  graph.remove_unused_values();
  return removed;
}

int64_t cleanup(Model& model, const CleanupOptions& options) {
  check_depth(model);
  int64_t removed = cleanup(*model.graph, options);
  if (options.recurse_functions)
    for (Function& f : model.functions) removed += cleanup(*f.body, options);
  return removed;
}

}  // namespace assay
