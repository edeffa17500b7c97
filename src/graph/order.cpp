#include "graph/order.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/read.h"
#include "onnx/messages.h"

namespace assay {
namespace {

bool lies_in(const Value& v, const Graph& graph) {
  for (const Graph* g = &v.graph(); g != nullptr; g = g->parent())
    if (g == &graph) return true;
  return false;
}

/// Calls `visit` for every value that a graph's nodes, those of subgraphs included, and subgraph outputs use.
template <typename Visit>
void for_each_use(const Graph& graph, const Visit& visit) {
  for (const auto& n : graph.nodes()) {
    for (Value* v : n->inputs())
      if (v != nullptr) visit(v);
    for (const Attribute& a : n->attributes) {
      if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) for_each_use(**g, visit);
      if (const auto* list = a.get_if<Attribute::Graphs>())
        for (const auto& g : *list) for_each_use(*g, visit);
    }
  }
  for (Value* v : graph.outputs) visit(v);
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

/// True when each node follows its dependencies.
bool is_sorted(const Graph& graph) {
  std::unordered_set<const Node*> seen;
  seen.reserve(graph.nodes().size());
  const auto is_ready = [&](const Value* v) {
    return v == nullptr || v->producer() == nullptr || &v->graph() != &graph || seen.contains(v->producer());
  };
  for (const auto& n : graph.nodes()) {
    if (!std::all_of(n->inputs().begin(), n->inputs().end(), is_ready)) return false;
    if (has_subgraph(*n)) {
      const std::vector<Value*> uses = used_values(*n);
      if (!std::all_of(uses.begin(), uses.end(), is_ready)) return false;
    }
    seen.insert(n.get());
  }
  return true;
}

}  // namespace

namespace {

/// The values that a node and its subgraphs use, each once, if `counts` holds for the value's graph.
template <typename Counts>
std::vector<Value*> used_values_of(const Node& node, const Counts& counts) {
  constexpr size_t kFew = 16;
  std::vector<Value*> out;
  std::unordered_set<Value*> seen;  // used beyond a few values
  const auto add = [&](Value* v) {
    if (v == nullptr || !counts(v->graph())) return;
    if (out.size() < kFew) {
      if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
      return;
    }
    if (seen.empty()) seen.insert(out.begin(), out.end());
    if (seen.insert(v).second) out.push_back(v);
  };
  for (Value* v : node.inputs()) add(v);
  for (const Attribute& a : node.attributes) {
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) for_each_use(**g, add);
    if (const auto* list = a.get_if<Attribute::Graphs>())
      for (const auto& g : *list) for_each_use(*g, add);
  }
  return out;
}

}  // namespace

std::vector<Value*> used_values(const Node& node) {
  return used_values_of(node, [&](const Graph& g) { return &g == &node.graph(); });
}

std::vector<Value*> all_used_values(const Node& node) {
  return used_values_of(node, [&](const Graph& g) {
    const Graph* at = &node.graph();
    while (at != nullptr && at != &g) at = at->parent();
    return at != nullptr;
  });
}

std::vector<Value*> captured_values(const Graph& graph) {
  std::vector<Value*> out;
  std::unordered_set<Value*> seen;
  for_each_use(graph, [&](Value* v) {
    if (!lies_in(*v, graph) && seen.insert(v).second) out.push_back(v);
  });
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

std::vector<Node*> depth_first_order(const Graph& graph) {
  if (!is_sorted(graph)) return Sorter(graph).run();
  std::vector<Node*> order;
  for (const auto& n : graph.nodes()) order.push_back(n.get());
  return order;
}

void sort_topologically(Graph& graph) {
  if (!is_sorted(graph)) graph.reorder_nodes(Sorter(graph).run());
}

}  // namespace assay
