#include "engine/specialize/open_parts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analysis/extents.h"
#include "analysis/node_key.h"
#include "engine/specialize/dynamic_part.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "graph/read.h"
#include "naming/origins.h"
#include "passes/region.h"

namespace assay::engine {
namespace {

/// More integers than this are no extents.
constexpr int64_t kMaxExtents = 64;
/// The opset from which on Shape gives a part of the extents.
constexpr int64_t kRangesOfShape = 15;
constexpr size_t kNever = std::numeric_limits<size_t>::max();

bool is_extents(const Value* v) {
  if (v == nullptr || !v->type.is_tensor() || !is_integer(v->type.dtype)) return false;
  const auto shape = shape_of(v);
  return shape && shape->numel() <= kMaxExtents;
}

/// Parts are numbered: one stands behind those of lower numbers only, and so does what is between.
class Levels {
 public:
  explicit Levels(const Graph& g) {
    for (const auto& n : g.nodes()) look_at(n.get());
    for (auto n = g.nodes().rbegin(); n != g.nodes().rend(); ++n) move_behind(n->get());
  }

  enum class Kind : uint8_t {
    kOther,    ///< all its shapes are known
    kOpen,     ///< belongs to a part
    kExtents,  ///< computes with extents alone
  };
  struct Place {
    Kind kind = Kind::kOther;
    size_t inside = 0;   ///< the first part that may use the results
    size_t outside = 0;  ///< the first part that may stand behind what uses them outside
    size_t latest = kNever;
  };

  const Place& of(const Node* n) const { return places_.at(n); }
  bool is_open_node(const Node* n) const {
    const auto it = places_.find(n);
    return it != places_.end() && it->second.kind == Kind::kOpen;
  }
  Kind kind(const Value* v) const {
    const auto it = places_.find(v->producer());
    return it == places_.end() ? Kind::kOther : it->second.kind;
  }

 private:
  void look_at(const Node* n) {
    Place place;
    const std::vector<Value*> used = used_values(*n);
    const bool reads_open = std::any_of(used.begin(), used.end(), is_open);
    const bool makes_open = std::any_of(n->outputs().begin(), n->outputs().end(), is_open);
    for (const Value* v : used) {
      const auto it = places_.find(v->producer());
      if (it == places_.end()) continue;
      // Extents that bodies take from around them are not computed anew: they come from outside.
      const bool anew = it->second.kind != Kind::kExtents || !has_subgraph(*n);
      place.inside = std::max(place.inside, anew ? it->second.inside : it->second.outside);
      place.outside = std::max(place.outside, it->second.outside);
    }
    const auto follows_extents = [&] {
      return !used.empty() && std::all_of(used.begin(), used.end(), [&](const Value* v) {
        return v->is_constant() || kind(v) == Kind::kExtents;
      }) && std::any_of(used.begin(), used.end(), [&](const Value* v) { return kind(v) == Kind::kExtents; });
    };
    const bool asks = reads_open && (is_op(*n, "Shape") || is_op(*n, "Size"));
    if (!makes_open && !has_subgraph(*n) && (asks || follows_extents()) &&
        std::all_of(n->outputs().begin(), n->outputs().end(), is_extents)) {
      place.kind = Kind::kExtents;
    } else if ((reads_open || makes_open) && !has_subgraph(*n)) {
      place.kind = Kind::kOpen;
      place.outside = std::max(place.outside, place.inside + 1);
    } else {
      place.inside = place.outside;
    }
    places_.emplace(n, place);
  }

  /// What only later parts read goes there.
  void move_behind(const Node* n) {
    Place& place = places_.at(n);
    if (place.kind == Kind::kOther) return;
    bool stays = false;
    size_t first = kNever;
    for (const Value* v : n->outputs()) {
      if (v == nullptr) continue;
      for (const Node* c : v->consumers()) {
        const auto it = places_.find(c);
        if (it == places_.end() || it->second.kind == Kind::kOther)
          stays = true;
        else
          first = std::min(first, it->second.kind == Kind::kOpen ? it->second.inside : it->second.latest);
      }
    }
    place.latest = stays || first == kNever ? place.inside : first;
    if (place.kind == Kind::kOpen) place.inside = place.latest;
  }

  std::unordered_map<const Node*, Place> places_;
};

/// The nodes of one part, with copies of those that compute extents for it.
class Part {
 public:
  Part(Graph& g, const Levels& levels) : graph_(g), levels_(levels) {}

  void add(Node* n) {
    for (size_t i = 0; i < n->inputs().size(); ++i)
      if (Value* v = n->input(i); v != nullptr && levels_.kind(v) == Levels::Kind::kExtents)
        n->set_input(i, copy_of(v));
    nodes_.push_back(n);
  }
  const std::vector<Node*>& nodes() const { return nodes_; }

 private:
  Value* copy_of(Value* v) {
    if (const auto it = copies_.find(v); it != copies_.end()) return it->second;
    const Node& n = *v->producer();
    ValueMap map;
    for (Value* input : n.inputs())
      if (input != nullptr)
        map[input] = levels_.kind(input) == Levels::Kind::kExtents ? copy_of(input) : input;
    for (Value* output : n.outputs())
      if (output != nullptr)
        map[output] = copies_[output] = graph_.add_value(graph_.unique_name(output->name()), output->type);
    Node* copy = clone_node(n, graph_, map);
    set_origins(*copy, origins_of(n));
    nodes_.push_back(copy);
    return copies_.at(v);
  }

  Graph& graph_;
  const Levels& levels_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Value*, Value*> copies_;
};

/// Of a part's nodes those that give other parts something, such as a mask for all layers, and what they
/// need: without them the part may be equal to others. Nothing where they need extents of the rest.
class Shared {
 public:
  Shared(const std::vector<Node*>& nodes, const Levels& levels)
      : levels_(levels), own_(nodes.begin(), nodes.end()) {
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n)
      if (gives_others(**n)) shared_.insert(*n);
    const bool is_closed = std::all_of(shared_.begin(), shared_.end(), [&](const Node* n) {
      return std::all_of(n->inputs().begin(), n->inputs().end(),
                         [&](const Value* v) { return is_known_before(v); });
    });
    if (!is_closed) shared_.clear();
  }
  bool contains(const Node* n) const { return shared_.contains(n); }

 private:
  bool gives_others(const Node& n) const {
    return std::any_of(n.outputs().begin(), n.outputs().end(), [&](const Value* v) {
      return v != nullptr && std::any_of(v->consumers().begin(), v->consumers().end(), [&](const Node* c) {
               return shared_.contains(c) || (levels_.is_open_node(c) && !own_.contains(c));
             });
    });
  }
  /// Extents are of values outside of the part, or of those that are shared.
  bool is_known_before(const Value* v) {
    if (v == nullptr || v->producer() == nullptr) return true;
    const Node* n = v->producer();
    if (own_.contains(n)) return shared_.contains(n);
    if (levels_.kind(v) != Levels::Kind::kExtents || !extents_.insert(n).second) return true;
    return std::all_of(n->inputs().begin(), n->inputs().end(),
                       [&](const Value* input) { return is_known_before(input); });
  }

  const Levels& levels_;
  std::unordered_set<const Node*> own_, shared_, extents_;  // the last: that have been looked at
};

/// Its nodes and those in bodies; a part counts as none.
size_t nodes_outside(const Graph& g) {
  size_t count = 0;
  for (const auto& n : g.nodes()) {
    if (is_region(*n, kNetwork)) continue;
    ++count;
    for (const Graph* body : subgraphs_of(*n)) count += nodes_outside(*body);
  }
  return count;
}

/// Equal for bodies that compute the same, whatever they are called; nothing for those that are not compared.
std::optional<std::string> key_of(const Graph& body) {
  std::string key;
  std::unordered_map<const Value*, size_t> numbers;
  const auto number = [&](const Value* v) { return numbers.emplace(v, numbers.size()).first->second; };
  for (const Value* v : body.inputs) key += fmt::format("{}:{};", number(v), v->type.str());
  for (const auto& n : body.nodes()) {
    key += fmt::format("{}/{}/{}(", n->domain, n->op_type, n->overload);
    for (const Value* v : n->inputs()) {
      if (v == nullptr)
        key += "-;";
      else if (v->tensor().defined() && !append_small_constant(key, v))
        key += fmt::format("{} at {};", v->type.str(), v->tensor().data());
      else if (!v->is_constant())
        key += fmt::format("{};", number(v));
      else if (!v->tensor().defined())
        return std::nullopt;
    }
    key += ')';
    if (!append_attributes(key, *n)) return std::nullopt;
    for (const Value* v : n->outputs()) key += v == nullptr ? "-;" : fmt::format("{};", number(v));
  }
  for (const Value* v : body.outputs) key += fmt::format("{};", number(v));
  return key;
}

/// The extents of a body's inputs are those of a run: no two are known to be equal.
void forget_symbols(const Graph& body) {
  for (Value* v : body.inputs)
    if (v->type.has_shape())
      for (Dim& d : *v->type.dims)
        if (!d.is_known()) d = Dim();
}

void remove_unused(Graph& g, const std::unordered_set<const Node*>& candidates) {
  const std::unordered_set<const Value*> outputs(g.outputs.begin(), g.outputs.end());
  std::unordered_set<const Node*> unused;
  for (auto it = g.nodes().rbegin(); it != g.nodes().rend(); ++it) {
    Node& n = **it;
    const bool used = std::any_of(n.outputs().begin(), n.outputs().end(), [&](const Value* v) {
      return v != nullptr && (!v->consumers().empty() || outputs.contains(v));
    });
    if (used || !candidates.contains(&n)) continue;
    n.set_inputs({});
    unused.insert(&n);
  }
  g.remove_nodes_if([&](const Node& n) { return unused.contains(&n); });
}

}  // namespace

void ask_inputs(Model& model) {
  Graph& g = *model.graph;
  if (model.opset() < kRangesOfShape) return;
  const auto result_of = [](const Node& n) -> const Dims* {
    const bool is_whole = n.find_attribute("start") == nullptr && n.find_attribute("end") == nullptr;
    return is_whole && n.input(0) != nullptr && n.input(0)->producer() != nullptr ? dims_of(n.input(0))
                                                                                  : nullptr;
  };
  const auto same = [](const Dim& a, const Dim& b) { return a.same_as(b); };
  for (const auto& n : g.nodes()) {
    const Dims* wanted = is_op(*n, "Shape") ? result_of(*n) : nullptr;
    if (wanted == nullptr || wanted->empty()) continue;
    for (Value* input : g.inputs) {
      const Dims* given = dims_of(input);
      if (given == nullptr) continue;
      const auto at = std::search(given->begin(), given->end(), wanted->begin(), wanted->end(), same);
      if (at == given->end()) continue;
      const auto start = static_cast<int64_t>(at - given->begin());
      n->set_inputs({input});
      n->set_attribute("start", start);
      n->set_attribute("end", start + static_cast<int64_t>(wanted->size()));
      break;
    }
  }
}

OpenParts cut_open_parts(Model& model) {
  Graph& g = *model.graph;
  ask_inputs(model);
  std::map<size_t, std::vector<Node*>> open;
  std::unordered_set<const Node*> extents;
  const Levels levels(g);
  for (const auto& n : g.nodes()) {
    const Levels::Place& place = levels.of(n.get());
    if (place.kind == Levels::Kind::kOpen) open[place.inside].push_back(n.get());
    if (place.kind == Levels::Kind::kExtents) extents.insert(n.get());
  }
  OpenParts counts;
  std::unordered_map<std::string, std::shared_ptr<Graph>> bodies;
  std::vector<std::vector<Node*>> parts;
  for (const auto& [level, nodes] : open) {
    const Shared shared(nodes, levels);
    Part first(g, levels), rest(g, levels);
    for (Node* n : nodes) (shared.contains(n) ? first : rest).add(n);
    for (const Part* part : {&first, &rest})
      if (!part->nodes().empty()) parts.push_back(part->nodes());
  }
  remove_unused(g, extents);
  for (const std::vector<Node*>& nodes : parts) {
    Node* network = cut_part(g, nodes);
    const Graph& body = body_of(*network);
    forget_symbols(body);
    if (const auto key = key_of(body)) {
      const auto [it, is_new] =
          bodies.emplace(*key, *network->find_attribute("body")->get_if<std::shared_ptr<Graph>>());
      if (!is_new) {
        network->set_attribute("body", it->second);
        continue;
      }
    }
    counts.inside += body.nodes().size();
  }
  counts.outside = nodes_outside(g);
  if (!parts.empty()) sort_topologically(g);
  return counts;
}

}  // namespace assay::engine
