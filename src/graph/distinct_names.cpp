#include "graph/distinct_names.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/edit.h"

namespace assay {
namespace {

/// Roots of name scopes: the main graph, and each function's body.
template <typename M>
auto roots_of(M& model) {
  std::vector<decltype(model.graph.get())> roots = {model.graph.get()};
  for (auto& f : model.functions) roots.push_back(f.body.get());
  return roots;
}

std::vector<Graph*> with_bodies(Graph& g) {
  std::vector<Graph*> list = subgraphs(g, /*recursive=*/true);
  list.insert(list.begin(), &g);
  return list;
}

/// Calls visit(value, outer value of that name) for each value that hides one.
template <typename Visit>
void each_hidden(Graph& root, const Visit& visit) {
  for (Graph* g : subgraphs(root, /*recursive=*/true))
    for (const auto& v : g->values())
      if (Value* outer = g->parent() != nullptr ? g->parent()->lookup(v->name()) : nullptr) visit(*v, *outer);
}

}  // namespace

DistinctNames::DistinctNames(const Model& model) {
  for (Graph* root : roots_of(model)) {
    std::unordered_set<std::string> names;
    for (const Graph* g : with_bodies(*root)) {
      for (const auto& v : g->values()) known_.objects.insert(v.get());
      for (const auto& n : g->nodes()) {
        known_.objects.insert(n.get());
        if (!n->name.empty() && !names.insert(n->name).second) known_.clashing_nodes.insert(n->name);
      }
    }
    each_hidden(*root, [&](const Value& v, const Value&) { known_.clashing_values.insert(v.name()); });
  }
}

/// Processes one root and its subgraphs.
class DistinctNames::Settling {
 public:
  Settling(const Known& known, Graph& root) : known_(known), root_(root), graphs_(with_bodies(root)) {}

  void run() {
    for (const Graph* g : graphs_) {
      for (const auto& v : g->values()) taken_.insert(v->name());
      for (const auto& n : g->nodes()) ++nodes_[n->name];
    }
    fixed_.insert(root_.inputs.begin(), root_.inputs.end());
    fixed_.insert(root_.outputs.begin(), root_.outputs.end());
    values();
    nodes();
  }

 private:
  bool is_new(const void* object) const { return !known_.objects.contains(object); }

  void values() {
    std::vector<Value*> renamed;
    each_hidden(root_, [&](Value& inner, Value& outer) {
      if (known_.clashing_values.contains(inner.name())) return;
      const bool takes_outer = is_new(&outer) && !is_new(&inner) && !fixed_.contains(&outer);
      renamed.push_back(takes_outer ? &outer : &inner);
    });
    std::unordered_set<const Value*> done;
    for (Value* v : renamed)
      if (done.insert(v).second) v->rename(fresh(v->name(), taken_));
  }

  void nodes() {
    std::unordered_map<std::string, std::vector<Node*>> same;
    for (const Graph* g : graphs_)
      for (const auto& n : g->nodes())
        if (!n->name.empty() && nodes_[n->name] > 1 && !known_.clashing_nodes.contains(n->name))
          same[n->name].push_back(n.get());
    std::unordered_set<std::string> taken;
    for (const auto& [name, count] : nodes_) taken.insert(name);
    for (const Graph* g : graphs_)
      for (const auto& n : g->nodes()) {
        const auto it = same.find(n->name);
        if (it == same.end()) continue;
        const std::vector<Node*>& list = it->second;
        // The oldest keeps the name.
        const auto old = std::find_if(list.begin(), list.end(), [&](const Node* o) { return !is_new(o); });
        const Node* keeper = old != list.end() ? *old : list.front();
        if (n.get() != keeper) n->name = fresh(n->name, taken);
      }
  }

  /// `name_1`, `name_2`, ...: the first that is free, counted on for each name.
  std::string fresh(const std::string& name, std::unordered_set<std::string>& taken) {
    int64_t& count = counts_[name];
    std::string numbered;
    do numbered = name + "_" + std::to_string(++count);
    while (!taken.insert(numbered).second);
    return numbered;
  }

  const Known& known_;
  Graph& root_;
  const std::vector<Graph*> graphs_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int64_t> nodes_;
  std::unordered_map<std::string, int64_t> counts_;
  std::unordered_set<const Value*> fixed_;
};

void DistinctNames::settle(Model& model) {
  for (Graph* root : roots_of(model)) Settling(known_, *root).run();
}

}  // namespace assay
