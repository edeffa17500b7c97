#include "graph/order.h"

#include <unordered_map>
#include <unordered_set>

#include "assay/edit.h"
#include "onnx/messages.h"

namespace assay {
namespace {

void collect_captures(const Graph& sub, const Graph& outer, std::unordered_set<Value*>& seen,
                      std::vector<Value*>& out) {
  const auto add = [&](Value* v) {
    if (v != nullptr && &v->graph() == &outer && seen.insert(v).second) out.push_back(v);
  };
  for (const auto& n : sub.nodes()) {
    for (Value* v : n->inputs()) add(v);
    for (const Attribute& a : n->attributes) {
      if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) collect_captures(**g, outer, seen, out);
      if (const auto* list = a.get_if<Attribute::Graphs>())
        for (const auto& g : *list) collect_captures(*g, outer, seen, out);
    }
  }
  for (Value* v : sub.outputs) add(v);
}

enum class Mark : uint8_t { kNew, kOpen, kDone };

/// Depth-first without recursion: graphs are deeper than the stack.
class Sorter {
 public:
  explicit Sorter(const Graph& g) : graph_(g) {}

  std::vector<Node*> run() {
    for (const auto& n : graph_.nodes()) visit(n.get());
    return std::move(order_);
  }

 private:
  struct Frame {
    Node* node;
    std::vector<Value*> uses;
    size_t next = 0;
  };

  void visit(Node* root) {
    if (marks_[root] != Mark::kNew) return;
    open(root);
    while (!stack_.empty()) {
      Frame& f = stack_.back();
      if (f.next == f.uses.size()) {
        marks_[f.node] = Mark::kDone;
        order_.push_back(f.node);
        stack_.pop_back();
        continue;
      }
      Node* producer = f.uses[f.next++]->producer();
      if (producer == nullptr || marks_[producer] == Mark::kDone) continue;
      if (marks_[producer] == Mark::kOpen) report_cycle(producer);
      open(producer);
    }
  }

  void open(Node* n) {
    marks_[n] = Mark::kOpen;
    stack_.push_back({n, used_values(*n)});
  }

  [[noreturn]] void report_cycle(const Node* closing) {
    std::string path;
    bool inside = false;
    for (const Frame& f : stack_) {
      inside = inside || f.node == closing;
      if (inside) path += f.node->label() + " <- ";
    }
    fail(ErrorCode::kInvalidModel, "the graph has a cycle: {}{}", path, closing->label());
  }

  const Graph& graph_;
  std::unordered_map<const Node*, Mark> marks_;
  std::vector<Frame> stack_;
  std::vector<Node*> order_;
};

}  // namespace

std::vector<Value*> used_values(const Node& node) {
  std::vector<Value*> out;
  std::unordered_set<Value*> seen;
  for (Value* v : node.inputs())
    if (v != nullptr && &v->graph() == &node.graph() && seen.insert(v).second) out.push_back(v);
  for (const Attribute& a : node.attributes) {
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) collect_captures(**g, node.graph(), seen, out);
    if (const auto* list = a.get_if<Attribute::Graphs>())
      for (const auto& g : *list) collect_captures(*g, node.graph(), seen, out);
  }
  return out;
}

void check_depth(const Graph& graph) {
  std::vector<const Graph*> level = {&graph};
  for (int depth = 0; !level.empty(); ++depth) {
    require(depth <= onnx::kMaxGraphDepth, ErrorCode::kInvalidModel, "subgraphs nest deeper than {}",
            onnx::kMaxGraphDepth);
    std::vector<const Graph*> next;
    for (const Graph* g : level)
      for (const auto& n : g->nodes())
        for (const Attribute& a : n->attributes) {
          if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) next.push_back(sub->get());
          if (const auto* list = a.get_if<Attribute::Graphs>())
            for (const auto& sub : *list) next.push_back(sub.get());
        }
    level = std::move(next);
  }
}

void check_depth(const Model& model) {
  check_depth(*model.graph);
  for (const Function& f : model.functions) check_depth(*f.body);
}

std::vector<Node*> depth_first_order(const Graph& graph) { return Sorter(graph).run(); }

namespace {

bool is_order_of(const Graph& graph, const std::vector<Node*>& order) {
  for (size_t i = 0; i < order.size(); ++i)
    if (graph.nodes()[i].get() != order[i]) return false;
  return true;
}

}  // namespace

void sort_topologically(Graph& graph) {
  const std::vector<Node*> order = depth_first_order(graph);
  if (!is_order_of(graph, order)) graph.reorder_nodes(order);
}

TopologicalScope::TopologicalScope(Model& model) {
  std::vector<Graph*> graphs = {model.graph.get()};
  for (const Function& f : model.functions) graphs.push_back(f.body.get());
  for (size_t i = 0; i < graphs.size(); ++i) {
    Graph* g = graphs[i];
    for (Graph* sub : subgraphs(*g)) graphs.push_back(sub);
    const std::vector<Node*> order = depth_first_order(*g);
    if (is_order_of(*g, order)) continue;
    std::vector<Node*> before;
    for (const auto& n : g->nodes()) before.push_back(n.get());
    g->reorder_nodes(order);
    original_.emplace_back(g, std::move(before));
  }
}

TopologicalScope::~TopologicalScope() {
  for (const auto& [graph, order] : original_) graph->reorder_nodes(order);
}

}  // namespace assay
