#include "engine/specialize/dynamic_part.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "graph/clone.h"
#include "graph/order.h"
#include "naming/origins.h"
#include "passes/region.h"

namespace assay::engine {

bool is_open(const Value* v) {
  if (v == nullptr || v->is_constant() || !v->type.is_tensor()) return false;
  return !v->type.has_shape() || !known_shape(*v->type.dims).has_value();
}

namespace {

/// More parts than this are cut as one.
constexpr size_t kMaxParts = 128;
/// Fewer numbers than this may be shapes on their way, also where they are floats.
constexpr int64_t kFewNumbers = 16;

/// Whether shapes may hang on what the value holds, or on its own.
bool carries_shapes(const Value* v) {
  if (v == nullptr) return false;
  if (is_open(v) || !v->type.is_tensor() || !is_float(v->type.dtype)) return true;
  return known_shape(*v->type.dims)->numel() <= kFewNumbers;
}

/// What hangs on shapes of computed values, divided by which: parts none of which stands both before and
/// behind another one, or a node between.
class Parts {
 public:
  explicit Parts(const Graph& g) {
    for (const auto& n : g.nodes()) look_at(n.get());
  }

  /// Nothing where there are too many.
  std::optional<std::vector<std::vector<Node*>>> take() {
    if (too_many_) return std::nullopt;
    std::vector<std::vector<Node*>> taken;
    for (Part& p : parts_) taken.push_back(std::move(p.nodes));
    return taken;
  }

 private:
  using Set = std::bitset<kMaxParts>;
  /// Nodes that made the values that something waits for; sorted.
  using Key = std::vector<size_t>;
  static constexpr size_t kNone = kMaxParts;

  struct Part {
    std::vector<Node*> nodes;
    Set before;  ///< parts that it reads of, however far
  };
  struct Known {
    Key key;              ///< what its shape waits for, or shapes that hang on its elements
    size_t part = kNone;  ///< that it is made in
    Set from;             ///< its part; else parts that it hangs on
  };

  void look_at(Node* n) {
    const size_t number = count_++;
    Key key;
    std::vector<const Known*> read;
    for (const Value* v : used_values(*n)) {
      const auto it = known_.find(v);
      if (it == known_.end()) continue;
      read.push_back(&it->second);
      Key both;
      std::set_union(key.begin(), key.end(), it->second.key.begin(), it->second.key.end(),
                     std::back_inserter(both));
      key = std::move(both);
    }
    const size_t part = key.empty() || too_many_ ? kNone : part_for(key, read);
    Set from;
    if (part != kNone) {
      parts_[part].nodes.push_back(n);
      from.set(part);
    } else {
      for (const Known* k : read) from |= k->from;
    }
    for (const Value* v : n->outputs()) {
      if (v == nullptr) continue;
      Key own = !key.empty() && carries_shapes(v) ? key : Key();
      if (key.empty() && is_open(v)) own = {number};
      if (!own.empty() || from.any()) known_[v] = {std::move(own), part, from};
    }
  }

  /// These parts and all that they read of.
  Set closure(const Set& parts) const {
    Set all = parts;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (parts[i]) all |= parts_[i].before;
    return all;
  }

  static Set outside(size_t part, const std::vector<const Known*>& read) {
    Set from;
    for (const Known* k : read)
      if (k->part != part) from |= k->from;
    return from;
  }

  /// The last part of this key, unless the node reads something that hangs on it and is made elsewhere.
  size_t part_for(const Key& key, const std::vector<const Known*>& read) {
    const auto it = last_.find(key);
    size_t part = it == last_.end() ? kNone : it->second;
    if (part == kNone || closure(outside(part, read))[part]) {
      if (parts_.size() == kMaxParts) {
        too_many_ = true;
        return kNone;
      }
      part = parts_.size();
      parts_.emplace_back();
      last_[key] = part;
    }
    const Set added = closure(outside(part, read));
    parts_[part].before |= added;
    // What reads of it reads of them, too.
    for (Part& p : parts_)
      if (p.before[part]) p.before |= added;
    return part;
  }

  std::unordered_map<const Value*, Known> known_;
  std::vector<Part> parts_;
  std::map<Key, size_t> last_;
  size_t count_ = 0;
  bool too_many_ = false;
};

/// Nodes that wait, and all that follow them.
std::vector<Node*> all_late(const Graph& g) {
  const std::unordered_set<const Value*> given(g.inputs.begin(), g.inputs.end());
  std::unordered_set<const Value*> late;
  std::vector<Node*> waiting;
  for (const auto& n : g.nodes()) {
    const std::vector<Value*> used = used_values(*n);
    const bool waits = std::any_of(used.begin(), used.end(), [&](const Value* v) {
      return late.contains(v) || (is_open(v) && !given.contains(v));
    });
    if (!waits) continue;
    waiting.push_back(n.get());
    for (const Value* v : n->outputs()) late.insert(v);
  }
  return waiting;
}

/// Values that something outside of these nodes reads.
std::unordered_set<const Value*> read_elsewhere(const Graph& g,
                                                const std::unordered_set<const Node*>& inside) {
  std::unordered_set<const Value*> read(g.outputs.begin(), g.outputs.end());
  for (const auto& n : g.nodes())
    if (!inside.contains(n.get()))
      for (const Value* v : used_values(*n)) read.insert(v);
  return read;
}

}  // namespace

Node* cut_part(Graph& g, const std::vector<Node*>& nodes) {
  const std::unordered_set<const Node*> inside(nodes.begin(), nodes.end());
  const std::unordered_set<const Value*> wanted = read_elsewhere(g, inside);
  std::unordered_set<const Value*> made;
  for (const Node* n : nodes) made.insert(n->outputs().begin(), n->outputs().end());
  auto body = std::make_shared<Graph>();
  ValueMap map;
  std::vector<Value*> inputs, outputs;
  std::vector<std::string> origins;
  for (Node* n : nodes)
    for (Value* v : used_values(*n)) {
      if (map.contains(v) || made.contains(v)) continue;
      Value* formal = body->add_value(body->unique_name(v->name()), v->type);
      map[v] = formal;
      if (v->is_constant()) {
        formal->set_tensor(v->tensor());
        formal->metadata = v->metadata;
        continue;
      }
      body->inputs.push_back(formal);
      inputs.push_back(v);
    }
  for (Node* n : nodes) {
    for (const std::string& name : origins_of(*n)) origins.push_back(name);
    set_origins(*clone_node(*n, *body, map), origins_of(*n));
    for (Value* v : n->outputs()) {
      if (v == nullptr || !wanted.contains(v)) continue;
      body->outputs.push_back(map.at(v));
      outputs.push_back(v);
    }
  }
  for (Node* n : nodes) {
    n->set_outputs({});
    n->set_inputs({});
  }
  Node* network = g.add_node(std::string(kNetwork), inputs, outputs, {{"body", body}}, nodes.front()->name);
  network->domain = std::string(kRegionDomain);
  set_origins(*network, origins);
  g.remove_nodes_if([&](const Node& n) { return inside.contains(&n); });
  return network;
}

bool cut_dynamic_part(Model& model) {
  Graph& g = *model.graph;
  auto parts = Parts(g).take();
  if (!parts) parts = {all_late(g)};
  bool any = false;
  for (const std::vector<Node*>& nodes : *parts) {
    // A single node is as well evaluated as it is.
    if (nodes.size() < 2) continue;
    cut_part(g, nodes);
    any = true;
  }
  if (any) sort_topologically(g);
  return any;
}

}  // namespace assay::engine
