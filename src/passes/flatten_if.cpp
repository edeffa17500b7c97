#include "passes/flatten_if.h"

#include <unordered_map>
#include <unordered_set>

#include "analysis/match.h"
#include "graph/clone.h"
#include "graph/order.h"

namespace assay {
namespace {

/// Moves the nodes of one branch to where its If is.
class Splicer {
 public:
  /// `node_names` are those of the graph.
  Splicer(Node& node, const Graph& branch, std::string suffix, std::unordered_set<std::string>& node_names)
      : node_(node),
        graph_(node.graph()),
        branch_(branch),
        suffix_(std::move(suffix)),
        node_names_(node_names) {}

  /// The nodes to stand in place of the If, which has no outputs afterwards.
  std::vector<Node*> run() {
    outputs_ = node_.outputs();
    outputs_.resize(branch_.outputs.size(), nullptr);
    node_.set_outputs({});
    for (Value* v : captured_values(branch_)) map_[v] = v;
    bind_results();
    for (const auto& v : branch_.values())
      if (!map_.contains(v.get())) add_local(*v);
    std::vector<Node*> added;
    for (const auto& n : branch_.nodes()) {
      added.push_back(clone_node(*n, graph_, map_));
      std::string& name = added.back()->name;
      if (!name.empty() && !node_names_.insert(name).second) name += suffix_;
    }
    hand_through(added);
    move_annotations();
    return added;
  }

 private:
  /// A result that the branch computes, or a constant of it, becomes the If's output.
  void bind_results() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Value* v = branch_.outputs[i];
      Value* out = outputs_[i];
      if (out == nullptr || &v->graph() != &branch_ || map_.contains(v)) continue;
      if (v->producer() == nullptr) {
        if (!v->tensor().defined()) continue;
        out->set_tensor(v->tensor());
        out->set_tensor_source(v->shared_tensor_source());
      }
      map_[v] = out;
    }
  }

  void add_local(const Value& v) {
    Value* copy = clone_value(v, graph_, graph_.unique_name(v.name() + suffix_));
    copy->is_overridable = false;
    map_[&v] = copy;
  }

  /// What the branch gives out without computing it, or gives out twice.
  void hand_through(std::vector<Node*>& added) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      Value* given = map_.at(branch_.outputs[i]);
      if (outputs_[i] != nullptr && outputs_[i] != given)
        added.push_back(graph_.add_node("Identity", {given}, {outputs_[i]}, {}, node_.name + suffix_));
    }
  }

  /// They name values of the branch, which have other names now.
  void move_annotations() {
    const auto renamed = [&](const std::string& name) {
      const Value* v = branch_.find_value(name);
      return v != nullptr ? map_.at(v)->name() : name;
    };
    for (const auto& [name, parameters] : branch_.quantization_annotations) {
      Metadata own;
      for (const auto& [key, value] : parameters) own.emplace_back(key, renamed(value));
      graph_.quantization_annotations.emplace_back(renamed(name), std::move(own));
    }
  }

  Node& node_;
  Graph& graph_;
  const Graph& branch_;
  std::string suffix_;
  std::unordered_set<std::string>& node_names_;
  std::vector<Value*> outputs_;
  ValueMap map_;
};

/// The branch that runs; null when the condition is not known.
std::shared_ptr<Graph> chosen_branch(const Node& n, int64_t ir_version) {
  if (!is_op(n, "If") || n.outputs().empty()) return nullptr;
  const Value* condition = n.input(0);
  if (!is_fixed(condition, ir_version)) return nullptr;
  const Tensor t = condition->tensor().aligned();
  if (t.dtype() != DType::kBool || t.numel() != 1) return nullptr;
  const Attribute* a = n.find_attribute(t.data<bool>()[0] ? "then_branch" : "else_branch");
  const auto* branch = a != nullptr ? a->get_if<std::shared_ptr<Graph>>() : nullptr;
  return branch != nullptr && (*branch)->outputs.size() >= n.outputs().size() ? *branch : nullptr;
}

}  // namespace

int64_t flatten_constant_ifs(Graph& graph, int64_t ir_version) {
  std::unordered_map<const Node*, std::shared_ptr<Graph>> chosen;
  for (const auto& n : graph.nodes())
    if (auto branch = chosen_branch(*n, ir_version)) chosen.emplace(n.get(), std::move(branch));
  if (chosen.empty()) return 0;
  std::vector<Node*> nodes, order;
  std::unordered_set<std::string> names;
  for (const auto& n : graph.nodes()) {
    nodes.push_back(n.get());
    names.insert(n->name);
  }
  for (Node* n : nodes) {
    const auto it = chosen.find(n);
    if (it == chosen.end()) {
      order.push_back(n);
      continue;
    }
    const Graph& branch = *it->second;
    const std::vector<Node*> added =
        Splicer(*n, branch, fmt::format("_subg_{}_{}", order.size(), branch.name), names).run();
    order.insert(order.end(), added.begin(), added.end());
  }
  graph.reorder_nodes(order);
  return static_cast<int64_t>(chosen.size());
}

}  // namespace assay
