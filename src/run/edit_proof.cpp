#include "run/edit_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "assay/edit.h"
#include "assay/interrupt.h"
#include "base/diagnostics.h"
#include "graph/clone.h"
#include "graph/node_order.h"
#include "graph/read.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"

namespace assay {
namespace {

constexpr size_t kMaxNodes = 200;
/// Steps of one evaluation of an extracted model.
constexpr int64_t kMaxEditWork = int64_t{1} << 31;
constexpr int kEditTrials = 40;
/// Depth of the context that is extracted first, and after a counterexample.
constexpr int kDepths[] = {0, 2, 6, 1000};

/// Values with many other uses are constants or inputs of the whole model.
constexpr size_t kMaxUses = 32;

using ModelPair = std::pair<std::shared_ptr<Model>, std::shared_ptr<Model>>;

/// The nodes of an edit with their predecessors and direct successors, as an extracted model.
class Surroundings {
 public:
  Surroundings(const PassEdit& edit, int depth) : edit_(edit), graph_(edit.node->graph()) {
    std::vector<const Node*> front, own = {edit.node};
    own.insert(own.end(), edit.patch->removed().begin(), edit.patch->removed().end());
    for (const Node* n : own) is_whole_ &= add(n, front);
    for (const Node* n : depth > 0 ? own : std::vector<const Node*>())
      for (const Value* v : n->outputs())
        if (v != nullptr && v->consumers().size() <= kMaxUses)
          for (const Node* c : v->consumers()) add(c, front);
    for (int d = 0; d < depth && !front.empty(); ++d) {
      std::vector<const Node*> next;
      for (const Node* n : front)
        for (const Value* v : n->inputs())
          if (v != nullptr && v->producer() != nullptr) add(v->producer(), next);
      front = std::move(next);
    }
    sort();
  }

  size_t size() const { return order_.size(); }

  /// True when every value that the nodes read is constant, an input of the model, or computed by one of
  /// them, so that any data can be fed.
  bool is_complete() const {
    return graph_.parent() == nullptr && std::all_of(order_.begin(), order_.end(), [&](const Node* n) {
             return std::all_of(n->inputs().begin(), n->inputs().end(), [&](const Value* v) {
               return v == nullptr || is_constant(v) || nodes_.contains(v->producer()) || is_input(v);
             });
           });
  }

  /// The model without and with the edit; null when a type is unknown, or the pass does not find the edit in
  /// the extracted model.
  ModelPair models() const {
    if (!is_whole_) return {};
    auto before = std::make_shared<Model>();
    before->opsets = edit_.context->model.opsets;
    before->ir_version = edit_.context->model.ir_version;
    before->ops = edit_.context->model.ops;
    before->graph->name = "edit";
    if (!fill(*before->graph)) return {};
    const std::shared_ptr<Model> after = clone_model(*before);
    if (!make_edit(*after)) return {};
    for (const auto& m : {before, after}) {
      cleanup(*m->graph);
      drop_inferred_shapes(*m);
    }
    return {before, after};
  }

 private:
  static bool is_constant(const Value* v) { return v->tensor().defined() && !v->is_overridable; }
  bool is_input(const Value* v) const {
    return std::find(graph_.inputs.begin(), graph_.inputs.end(), v) != graph_.inputs.end();
  }

  /// False for a node that cannot be part of it.
  bool add(const Node* n, std::vector<const Node*>& front) {
    if (nodes_.contains(n)) return true;
    if (&n->graph() != &graph_ || nodes_.size() >= kMaxNodes) return false;
    const BoundOp op = bind_op(*n, edit_.context->model);
    if (!op || op.op->random || has_subgraph(*n)) return false;
    nodes_.insert(n);
    front.push_back(n);
    return true;
  }

  /// Iterative depth-first search: a node, and whether its inputs have been visited.
  void sort() {
    std::unordered_set<const Node*> seen;
    std::vector<std::pair<const Node*, bool>> stack;
    for (const Node* n : nodes_) stack.emplace_back(n, false);
    while (!stack.empty()) {
      const auto [n, is_ready] = stack.back();
      stack.pop_back();
      if (is_ready) {
        order_.push_back(n);
        continue;
      }
      if (!seen.insert(n).second) continue;
      stack.emplace_back(n, true);
      for (const Value* v : n->inputs())
        if (v != nullptr && nodes_.contains(v->producer())) stack.emplace_back(v->producer(), false);
    }
  }

  /// The unchanged nodes, with outer values as inputs, and a node for each outer use.
  bool fill(Graph& to) const {
    ValueMap map;
    for (const Node* n : order_)
      for (const Value* v : n->inputs())
        if (v != nullptr && !take(*v, to, map)) return false;
    for (const Node* n : order_) {
      for (const Value* v : n->outputs())
        if (v != nullptr && !map.contains(v)) map[v] = to.add_value(to.unique_name(v->name()), v->type);
      clone_node(*n, to, map);
    }
    size_t uses = 0;
    for (const Node* n : order_)
      for (const Value* v : n->outputs()) {
        if (v == nullptr) continue;
        if (edit_.context->is_pinned(v)) to.outputs.push_back(map.at(v));
        for (size_t i = 0, all = std::min(uses_elsewhere(*v), kMaxUses); i < all; ++i) {
          Value* y = to.add_value(to.unique_name(fmt::format("use{}", uses++)), v->type);
          to.add_node("Identity", {map.at(v)}, {y});
          to.outputs.push_back(y);
        }
      }
    return !to.outputs.empty();
  }

  size_t uses_elsewhere(const Value& v) const {
    const auto& list = v.consumers();
    return static_cast<size_t>(
        std::count_if(list.begin(), list.end(), [&](const Node* n) { return !nodes_.contains(n); }));
  }

  bool take(const Value& v, Graph& to, ValueMap& map) const {
    if (map.contains(&v) || nodes_.contains(v.producer())) return true;
    if (is_constant(&v)) {
      map[&v] = to.add_constant(to.unique_name(v.name()), v.tensor());
      return true;
    }
    if (!v.type.is_tensor() || v.type.dtype == DType::kUndefined || !v.type.has_shape()) return false;
    map[&v] = to.add_input(to.unique_name(v.name()), v.type);
    return true;
  }

  bool make_edit(Model& m) const {
    Graph& g = *m.graph;
    const auto at = static_cast<size_t>(std::find(order_.begin(), order_.end(), edit_.node) - order_.begin());
    const PassContext context(m);
    std::optional<Patch> patch = edit_.pass.match(*g.nodes()[at], context);
    if (!patch) return false;
    {
      NodeOrder order(g);
      patch->apply(context, order);
      order.commit();
    }
    // Regions found by some passes become operators in the saved model, which can be evaluated.
    pass_regions_to_operators::def.run(m);
    return std::all_of(g.nodes().begin(), g.nodes().end(), [&](const auto& n) { return bind_op(*n, m); });
  }

  /// Types inferred of inner values apply to the sizes of the whole model.
  static void drop_inferred_shapes(Model& m) {
    const std::unordered_set<const Value*> inputs(m.graph->inputs.begin(), m.graph->inputs.end());
    for (const auto& v : m.graph->values())
      if (!v->is_constant() && !inputs.contains(v.get()) && v->type.is_tensor()) v->type.dims.reset();
  }

  const PassEdit& edit_;
  const Graph& graph_;
  bool is_whole_ = true;
  std::unordered_set<const Node*> nodes_;
  std::vector<const Node*> order_;
};

/// The identity of an edit among others at the same node.
std::string key_of(const PassEdit& edit) {
  std::string key = fmt::format("{}\n{}", edit.pass.name, edit.node != nullptr ? edit.node->label() : "");
  if (edit.patch == nullptr) return key;
  for (const Node* n : edit.patch->removed()) key += "\n-" + n->label() + n->op_type;
  for (const Value* v : edit.node->inputs()) key += "\n+" + (v != nullptr ? v->name() : "");
  return key;
}

std::string short_key(const RefusedEdit& e) { return e.pass + "\n" + e.node; }

}  // namespace

EditProof::Outcome EditProof::decide(const PassEdit& edit, std::string& reason) {
  stop_if_interrupted();
  if (!options_.is_local || edit.patch == nullptr || seconds_ > options_.seconds) return Outcome::kUndecided;
  EquivalenceOptions options;
  options.data.seed = static_cast<int64_t>(options_.seed);
  options.trials = kEditTrials;
  options.seconds = options_.edit_seconds;
  options.max_work = kMaxEditWork;
  size_t size = 0;
  try {
    for (const int depth : kDepths) {
      const Surroundings around(edit, depth);
      if (around.size() == size && depth > kDepths[1]) break;  // nothing more to extract
      size = around.size();
      const auto [before, after] = around.models();
      if (before == nullptr) continue;
      const Equivalence comparison = compare_models(before, after, options);
      trials_ += comparison.trials;
      seconds_ += comparison.seconds;
      if (comparison.difference.empty())
        return comparison.trials > 0 ? Outcome::kProved : Outcome::kUndecided;
      reason = comparison.difference;
      if (around.is_complete()) break;
    }
  } catch (const Error& e) {
    diag::verbose("Not proved by itself: {} at {}: {}", edit.pass.name, edit.node->label(), e.what());
  }
  return reason.empty() ? Outcome::kUndecided : Outcome::kRefused;
}

bool EditProof::allows(const PassEdit& edit) {
  // Results of fusions must become operators.
  if (&edit.pass == &pass_regions_to_operators::def) return true;
  RefusedEdit description{std::string(edit.pass.name), edit.node != nullptr ? edit.node->label() : "", ""};
  if (forbidden_.contains(short_key(description)) || allowed_ >= limit_) return false;
  const std::string key = key_of(edit);
  auto known = known_.find(key);
  if (known == known_.end()) {
    std::string reason;
    const Outcome outcome = decide(edit, reason);
    known = known_.emplace(key, outcome).first;
    if (outcome == Outcome::kProved) ++proved_;
    if (outcome == Outcome::kUndecided && edit.patch != nullptr) ++undecided_;
    if (outcome == Outcome::kRefused) {
      description.reason = std::move(reason);
      refuse(description);
    }
  }
  if (known->second == Outcome::kRefused) return false;
  ++allowed_;
  last_ = std::move(description);
  return true;
}

void EditProof::restart(int64_t limit) {
  limit_ = limit;
  allowed_ = 0;
  last_ = {};
}

void EditProof::forbid(RefusedEdit edit) {
  forbidden_.insert(short_key(edit));
  refuse(std::move(edit));
}

void EditProof::refuse(RefusedEdit edit) {
  const auto same = [&](const RefusedEdit& e) { return short_key(e) == short_key(edit); };
  if (std::none_of(refused_.begin(), refused_.end(), same)) refused_.push_back(std::move(edit));
}

}  // namespace assay
