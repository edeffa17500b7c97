// Nodes in the body of a Loop or Scan that read nothing of the loop are computed once, in front of it. They
// run there also where the loop turns out to run no iteration: then only what cannot fail is moved.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/loop_form.h"
#include "analysis/match.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "naming/origins.h"
#include "ops/node_facts.h"
#include "passes/never_fails.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"

namespace assay::pass_hoist_loop_nodes {
namespace {

/// Moves nodes of one body to where the loop is.
class Mover {
 public:
  Mover(const LoopForm& loop, const Model& model)
      : loop_(loop), graph_(loop.node->graph()), model_(model), runs_(surely_runs(loop, model.ir_version)) {}

  bool run() {
    std::vector<Node*> nodes;
    for (const auto& n : loop_.body->nodes()) {
      places_[n.get()] = nodes.size();
      nodes.push_back(n.get());
    }
    for (Node* n : nodes) look_at(n);
    if (moved_.empty()) return false;
    for (Node* n : nodes)
      if (moved_.contains(n)) release(*n);
    loop_.body->remove_nodes_if([&](const Node& n) { return moved_.contains(&n); });
    loop_.body->remove_unused_values();
    return true;
  }

 private:
  /// What is known of a value of the body.
  enum class Kind : uint8_t {
    kChanges,
    kConstant,  ///< follows from constants alone: it is moved along with what needs it, else folded
    kOutside,   ///< follows from what is around the loop
  };

  Kind kind_of(const Value* v) const {
    if (&v->graph() != loop_.body) return v->is_constant() ? Kind::kConstant : Kind::kOutside;
    if (v->is_constant()) return Kind::kConstant;
    const auto it = kinds_.find(v);
    return it != kinds_.end() ? it->second : Kind::kChanges;
  }

  void look_at(Node* n) {
    if (has_subgraph(*n)) return;
    const BoundOp op = bind_op(*n, model_);
    if (!op || op.op->random || !(runs_ || never_fails(*n, model_))) return;
    Kind kind = Kind::kConstant;
    for (const Value* v : n->inputs()) {
      if (v == nullptr) continue;
      const Kind input = kind_of(v);
      if (input == Kind::kChanges) return;
      if (input == Kind::kOutside) kind = input;
    }
    for (const Value* v : n->outputs())
      if (v != nullptr) kinds_[v] = kind;
    if (kind == Kind::kOutside) move(*n);
  }

  /// Copies of it and of what constants it needs in front of the loop.
  void move(Node& n) {
    std::vector<Node*> needed = {&n};
    for (size_t k = 0; k < needed.size(); ++k)
      for (const Value* v : needed[k]->inputs())
        if (v != nullptr && &v->graph() == loop_.body && !v->is_constant() &&
            taken_.insert(v->producer()).second && !moved_.contains(v->producer()))
          needed.push_back(v->producer());
    std::sort(needed.begin(), needed.end(),
              [&](const Node* a, const Node* b) { return places_.at(a) < places_.at(b); });
    for (Node* each : needed) copy(*each);
  }

  void copy(Node& n) {
    moved_.insert(&n);
    for (Value* v : n.inputs()) {
      if (v == nullptr || map_.contains(v)) continue;
      map_[v] = &v->graph() != loop_.body ? v : clone_value(*v, graph_, graph_.unique_name(v->name()));
    }
    for (const Value* v : n.outputs()) {
      if (v == nullptr) continue;
      Value* made = graph_.add_value(graph_.unique_name(v->name()), v->type);
      made->doc_string = v->doc_string;
      made->metadata = v->metadata;
      map_[v] = made;
    }
    set_origins(*clone_node(n, graph_, map_), origins_of(n));
  }

  /// Its results are those of the copy.
  void release(Node& n) {
    const std::vector<Value*> outputs = n.outputs();
    n.set_inputs({});
    n.set_outputs({});
    for (Value* v : outputs)
      if (v != nullptr) capture_instead(*v, map_.at(v));
  }

  const LoopForm& loop_;
  Graph& graph_;
  const Model& model_;
  const bool runs_;
  std::unordered_map<const Value*, Kind> kinds_;
  std::unordered_map<const Node*, size_t> places_;
  std::unordered_set<const Node*> moved_, taken_;
  ValueMap map_;
};

bool run(Model& model) {
  bool changed = false;
  std::vector<LoopForm> loops = loops_of(model);
  // What leaves an inner loop may leave the outer one, too.
  std::reverse(loops.begin(), loops.end());
  for (const LoopForm& loop : loops) {
    if (!Mover(loop, model).run()) continue;
    sort_topologically(loop.node->graph());
    changed = true;
  }
  return changed;
}

}  // namespace

constinit const PassDef def = {
    .name = "hoist_loop_nodes",
    .summary = "what does not change in a loop is computed in front of it",
    .conditions =
        "The node has no subgraph and no random numbers and reads nothing that changes in the loop. Where "
        "the loop may run no iteration: only operators that give a result for all elements of their inputs, "
        "with extents that are numbers; no integer division.",
    .run = run,
};

}  // namespace assay::pass_hoist_loop_nodes
