#include "debug/part.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "assay/error.h"
#include "graph/clone.h"
#include "graph/order.h"

namespace assay::debug {
namespace {

class PartMaker {
 public:
  PartMaker(const Model& model, std::span<const size_t> nodes) : model_(model), graph_(*model.graph) {
    for (const size_t i : nodes) kept_.push_back(graph_.nodes()[i].get());
    is_kept_.insert(kept_.begin(), kept_.end());
  }

  std::shared_ptr<Model> make() {
    clone_header(model_, *part_);
    for (const Function& f : model_.functions) part_->functions.push_back(clone_function(f));
    Graph& g = *part_->graph;
    g.name = graph_.name;
    add_inputs();
    for (const Node* n : kept_) clone_node(*n, g, map_);
    for (const Value* v : outputs()) {
      require_type(*v);
      g.outputs.push_back(map_.at(v));
    }
    return part_;
  }

 private:
  static void require_type(const Value& v) {
    const bool is_known =
        v.type.kind != Type::Kind::kUnknown && !(v.type.is_tensor() && v.type.dtype == DType::kUndefined);
    require(is_known, ErrorCode::kUnsupported,
            "the type of '{}' is not known, so that a model cannot begin or end there", v.name());
  }

  bool comes_from_outside(const Value& v) const {
    return v.producer() == nullptr || !is_kept_.contains(v.producer());
  }

  /// Inputs of the model in their order, then what other nodes compute, in the order of use.
  void add_inputs() {
    std::vector<const Value*> taken;
    std::unordered_set<const Value*> seen;
    for (const Node* n : kept_)
      for (const Value* v : used_values(*n))
        if (comes_from_outside(*v) && seen.insert(v).second) taken.push_back(v);
    std::unordered_map<const Value*, size_t> place;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) place[graph_.inputs[i]] = i;
    const auto order_of = [&](const Value* v) {
      return place.contains(v) ? place.at(v) : graph_.inputs.size();
    };
    std::stable_sort(taken.begin(), taken.end(),
                     [&](const Value* a, const Value* b) { return order_of(a) < order_of(b); });
    for (const Value* v : taken) {
      Value* own = clone_value(*v, *part_->graph);
      map_[v] = own;
      if (v->is_constant()) continue;
      require_type(*v);
      part_->graph->inputs.push_back(own);
    }
  }

  bool is_wanted_outside(const Value& v) const {
    if (std::find(graph_.outputs.begin(), graph_.outputs.end(), &v) != graph_.outputs.end()) return true;
    return std::any_of(v.consumers().begin(), v.consumers().end(),
                       [&](const Node* n) { return !is_kept_.contains(outermost(n)); });
  }

  /// The node of the main graph in whose body the node is.
  const Node* outermost(const Node* n) const {
    if (&n->graph() == &graph_) return n;
    const auto it = owners().find(n);
    return it == owners().end() ? nullptr : it->second;
  }

  /// Nodes of bodies, with the nodes of the main graph that have them.
  const std::unordered_map<const Node*, const Node*>& owners() const {
    if (!owners_.empty()) return owners_;
    for (const auto& n : graph_.nodes()) note_bodies(*n, n.get());
    return owners_;
  }
  void note_bodies(const Node& n, const Node* owner) const {
    for (const Attribute& a : n.attributes) {
      if (const auto* body = a.get_if<std::shared_ptr<Graph>>()) note_nodes(**body, owner);
      if (const auto* bodies = a.get_if<Attribute::Graphs>())
        for (const auto& body : *bodies) note_nodes(*body, owner);
    }
  }
  void note_nodes(const Graph& g, const Node* owner) const {
    for (const auto& n : g.nodes()) {
      owners_[n.get()] = owner;
      note_bodies(*n, owner);
    }
  }

  std::vector<const Value*> outputs() const {
    std::vector<const Value*> wanted, all;
    for (const Node* n : kept_)
      for (const Value* v : n->outputs()) {
        if (v == nullptr) continue;
        all.push_back(v);
        if (is_wanted_outside(*v)) wanted.push_back(v);
      }
    return wanted.empty() ? all : wanted;
  }

  const Model& model_;
  const Graph& graph_;
  std::vector<const Node*> kept_;
  std::unordered_set<const Node*> is_kept_;
  std::shared_ptr<Model> part_ = std::make_shared<Model>();
  ValueMap map_;
  mutable std::unordered_map<const Node*, const Node*> owners_;
};

}  // namespace

std::shared_ptr<Model> part_of(const Model& model, std::span<const size_t> nodes) {
  return PartMaker(model, nodes).make();
}

std::vector<size_t> cut_costs(const Graph& graph) {
  const size_t count = graph.nodes().size();
  std::unordered_map<const Node*, size_t> position;
  for (size_t i = 0; i < count; ++i) position[graph.nodes()[i].get()] = i;
  std::unordered_map<const Value*, size_t> last_use;
  for (size_t i = 0; i < count; ++i)
    for (const Value* v : used_values(*graph.nodes()[i]))
      if (v->producer() != nullptr) last_use[v] = i;
  // A value is cut before each node after its producer, up to its last user.
  std::vector<int64_t> change(count + 1, 0);
  for (const auto& [v, last] : last_use) {
    ++change[position.at(v->producer()) + 1];
    --change[last + 1];
  }
  std::vector<size_t> costs(count);
  int64_t live = 0;
  for (size_t i = 0; i < count; ++i) {
    live += change[i];
    costs[i] = static_cast<size_t>(live);
  }
  return costs;
}

}  // namespace assay::debug
