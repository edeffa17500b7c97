#include "assay/pattern.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "assay/edit.h"

namespace assay {

/// Matches one pattern, with inner patterns expanded, in one graph.
class PatternMatcher {
 public:
  PatternMatcher(const GraphPattern& pattern, const Graph& graph) : pattern_(pattern), graph_(graph) {
    std::vector<int> ids(static_cast<size_t>(pattern.tensors_));
    for (int& id : ids) id = tensors_++;
    unfold(pattern, ids);
    for (const int id : pattern.outputs_) outputs_.insert(id);
    graph_outputs_.insert(graph.outputs.begin(), graph.outputs.end());
    // A subgraph may return a value of this graph directly, which its consumers do not show.
    for (const Graph* inner : subgraphs(graph, /*recursive=*/true))
      graph_outputs_.insert(inner->outputs.begin(), inner->outputs.end());
  }

  std::vector<PatternMapping> run() {
    std::vector<PatternMapping> found;
    const int first = pattern_.variables_.front();
    for (const auto& n : graph_.nodes())
      for (size_t s = 0; s < steps_.size(); ++s) {
        const auto& inputs = steps_[s].inputs;
        if (std::find(inputs.begin(), inputs.end(), first) == inputs.end()) continue;
        if (n->op_type != steps_[s].source->op_type) continue;
        State state{.values = std::vector<std::optional<Value*>>(static_cast<size_t>(tensors_)),
                    .nodes = std::vector<Node*>(steps_.size())};
        if (!bind(state, s, n.get()) || !complete(state)) continue;
        size_t next = 0;
        found.push_back(mapping(pattern_, state, next, identity()));
        break;
      }
    return found;
  }

 private:
  struct Step {
    const GraphPattern::Step* source;
    std::vector<int> inputs, outputs;
  };
  struct State {
    std::vector<std::optional<Value*>> values;  // by tensor
    std::vector<Node*> nodes;                   // by step
  };

  std::vector<int> identity() const {
    std::vector<int> ids(static_cast<size_t>(pattern_.tensors_));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int>(i);
    return ids;
  }

  static std::vector<int> renamed(const std::vector<int>& list, const std::vector<int>& ids) {
    std::vector<int> out;
    for (const int t : list) out.push_back(ids[static_cast<size_t>(t)]);
    return out;
  }

  /// Maps an inner pattern's tensors to the expanded pattern's: its variables and outputs are the step's.
  std::vector<int> inner_ids(const GraphPattern::Step& step, const std::vector<int>& ids) {
    const GraphPattern& inner = *step.pattern;
    std::vector<int> own(static_cast<size_t>(inner.tensors_), -1);
    for (size_t i = 0; i < inner.variables_.size(); ++i)
      own[static_cast<size_t>(inner.variables_[i])] = ids[static_cast<size_t>(step.inputs[i])];
    for (size_t i = 0; i < inner.outputs_.size(); ++i)
      own[static_cast<size_t>(inner.outputs_[i])] = ids[static_cast<size_t>(step.outputs[i])];
    for (int& id : own)
      if (id < 0) id = tensors_++;
    return own;
  }

  void unfold(const GraphPattern& p, const std::vector<int>& ids) {
    for (const auto& [id, name] : p.constants_) constants_.insert(ids[static_cast<size_t>(id)]);
    for (const GraphPattern::Step& s : p.steps_) {
      if (s.pattern == nullptr) {
        steps_.push_back({&s, renamed(s.inputs, ids), renamed(s.outputs, ids)});
        continue;
      }
      inner_.push_back(inner_ids(s, ids));
      const std::vector<int> own = inner_.back();
      unfold(*s.pattern, own);
    }
  }

  bool bind_value(State& state, int id, Value* v) const {
    std::optional<Value*>& place = state.values[static_cast<size_t>(id)];
    if (place) return *place == v;
    if (constants_.contains(id) && (v == nullptr || !v->is_constant())) return false;
    place = v;
    return true;
  }

  /// Assigns node `n` to step `s`. False when it does not match; the state is then invalid.
  bool bind(State& state, size_t s, Node* n) const {
    const Step& step = steps_[s];
    if (std::find(state.nodes.begin(), state.nodes.end(), n) != state.nodes.end()) return false;
    if (!may_be(*n, step)) return false;
    state.nodes[s] = n;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (!bind_value(state, step.inputs[i], n->input(i))) return false;
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (!bind_value(state, step.outputs[i], n->output(i))) return false;
    return true;
  }

  /// A known value adjacent to a step, and the
  /// number of candidate nodes that it implies.
  struct Touched {
    const Value* value = nullptr;
    size_t nodes = 0;
    bool is_output = false;
  };
  /// The one with the fewest candidates, so that values with very many readers come last.
  std::optional<Touched> touched(const State& state, const Step& step) const {
    for (const int id : step.outputs)
      if (const auto& v = state.values[static_cast<size_t>(id)]) return Touched{*v, 1, true};
    std::optional<Touched> found;
    for (const int id : step.inputs)
      if (const auto& v = state.values[static_cast<size_t>(id)]; v && *v != nullptr)
        if (const size_t nodes = (*v)->consumers().size(); !found || nodes < found->nodes)
          found = Touched{*v, nodes, false};
    return found;
  }

  /// Candidate nodes of a step.
  const std::vector<Node*>& candidates(const Touched& by, size_t s) {
    const auto [it, is_new] = candidates_.try_emplace({by.value, s, by.is_output});
    if (!is_new) return it->second;
    std::vector<Node*>& list = it->second;
    if (by.is_output) {
      Node* n = by.value != nullptr ? by.value->producer() : nullptr;
      if (n != nullptr && &n->graph() == &graph_) list.push_back(n);
      return list;
    }
    std::unordered_set<const Node*> seen;
    for (Node* n : by.value->consumers())
      if (&n->graph() == &graph_ && may_be(*n, steps_[s]) && seen.insert(n).second) list.push_back(n);
    return list;
  }

  /// Conditions on a node itself, independent of its neighbours.
  static bool may_be(const Node& n, const Step& step) {
    return n.op_type == step.source->op_type && n.inputs().size() == step.inputs.size() &&
           n.outputs().size() == step.outputs.size() && (!step.source->check || step.source->check(n));
  }

  /// Finds nodes for the unassigned steps.
  bool complete(State& state) {
    bool open = false;
    std::optional<Touched> best;
    size_t step = 0;
    for (size_t s = 0; s < steps_.size(); ++s) {
      if (state.nodes[s] != nullptr) continue;
      open = true;
      if (const std::optional<Touched> by = touched(state, steps_[s]);
          by && (!best || by->nodes < best->nodes)) {
        best = by;
        step = s;
      }
    }
    if (!best) return !open && is_closed(state);
    for (Node* n : candidates(*best, step)) {
      State attempt = state;
      if (!bind(attempt, step, n) || !complete(attempt)) continue;
      state = std::move(attempt);
      return true;
    }
    return false;
  }

  /// True when inner values of the match have no other use.
  bool is_closed(const State& state) const {
    const std::unordered_set<const Node*> inside(state.nodes.begin(), state.nodes.end());
    for (const Step& step : steps_)
      for (const int id : step.outputs) {
        const Value* v = state.values[static_cast<size_t>(id)].value_or(nullptr);
        if (v == nullptr || outputs_.contains(id)) continue;
        if (graph_outputs_.contains(v)) return false;
        for (const Node* n : v->consumers())
          if (!inside.contains(n)) return false;
      }
    return true;
  }

  /// `next` counts the nodes in order of expansion.
  PatternMapping mapping(const GraphPattern& p, const State& state, size_t& next,
                         const std::vector<int>& ids) {
    size_t inner = 0;
    return mapping(p, state, next, inner, ids);
  }
  PatternMapping mapping(const GraphPattern& p, const State& state, size_t& next, size_t& inner,
                         const std::vector<int>& ids) {
    PatternMapping m;
    const auto value = [&](int id) {
      return state.values[static_cast<size_t>(ids[static_cast<size_t>(id)])].value_or(nullptr);
    };
    for (const int id : p.variables_) m.inputs_.push_back(value(id));
    for (const int id : p.outputs_) m.outputs_.push_back(value(id));
    for (const auto& [id, name] : p.constants_) m.constants_.emplace_back(name, value(id));
    for (const GraphPattern::Step& s : p.steps_) {
      if (s.pattern == nullptr) {
        m.nodes_.emplace_back(s.name, state.nodes[next++]);
      } else {
        const std::vector<int>& own = inner_[inner++];
        m.patterns_.emplace_back(s.name, mapping(*s.pattern, state, next, inner, own));
      }
    }
    return m;
  }

  const GraphPattern& pattern_;
  const Graph& graph_;
  int tensors_ = 0;
  std::vector<Step> steps_;
  std::vector<std::vector<int>> inner_;  // numbers of inner patterns' tensors, in order of expansion
  std::unordered_set<int> constants_, outputs_;
  std::unordered_set<const Value*> graph_outputs_;
  std::map<std::tuple<const Value*, size_t, bool>, std::vector<Node*>> candidates_;  // computed on demand
};

GraphPattern::TensorId GraphPattern::variable() {
  variables_.push_back(tensors_);
  return tensors_++;
}

GraphPattern::TensorId GraphPattern::constant(std::string name) {
  if (name.empty()) name = fmt::format("unnamed_constant_tensor_{}", tensors_);
  constants_[tensors_] = std::move(name);
  return tensors_++;
}

std::vector<GraphPattern::TensorId> GraphPattern::add(std::string name, std::string op_type,
                                                      std::vector<TensorId> inputs, size_t outputs,
                                                      Check check) {
  Step s{std::move(name), std::move(op_type), nullptr, std::move(inputs), {}, std::move(check)};
  for (size_t i = 0; i < outputs; ++i) s.outputs.push_back(tensors_++);
  steps_.push_back(std::move(s));
  return steps_.back().outputs;
}

std::vector<GraphPattern::TensorId> GraphPattern::add(std::string name, const GraphPattern& pattern,
                                                      std::vector<TensorId> inputs) {
  require(inputs.size() == pattern.variables_.size(), ErrorCode::kInvalidArgument,
          "the pattern '{}' has {} variables, but {} inputs are given", name, pattern.variables_.size(),
          inputs.size());
  Step s{std::move(name), {}, std::make_shared<GraphPattern>(pattern), std::move(inputs), {}, {}};
  for (size_t i = 0; i < pattern.outputs_.size(); ++i) s.outputs.push_back(tensors_++);
  steps_.push_back(std::move(s));
  return steps_.back().outputs;
}

std::vector<PatternMapping> GraphPattern::match_all(const Graph& graph) const {
  require(!variables_.empty() && !steps_.empty(), ErrorCode::kInvalidArgument,
          "a pattern needs a variable and a node to be looked for");
  return PatternMatcher(*this, graph).run();
}

namespace {

template <typename T>
const T* find_named(const std::vector<std::pair<std::string, T>>& list, std::string_view name) {
  for (const auto& [key, value] : list)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace

Node* PatternMapping::node(std::string_view name) const {
  Node* const* n = find_named(nodes_, name);
  return n != nullptr ? *n : nullptr;
}
const PatternMapping* PatternMapping::pattern(std::string_view name) const {
  return find_named(patterns_, name);
}
Value* PatternMapping::constant(std::string_view name) const {
  Value* const* v = find_named(constants_, name);
  return v != nullptr ? *v : nullptr;
}
std::vector<Node*> PatternMapping::nodes() const {
  std::vector<Node*> list;
  for (const auto& [name, n] : nodes_) list.push_back(n);
  for (const auto& [name, p] : patterns_) {
    const std::vector<Node*> inner = p.nodes();
    list.insert(list.end(), inner.begin(), inner.end());
  }
  return list;
}

namespace {

void check_outputs(const PatternMapping& m, const std::unordered_set<const Value*>& graph_outputs) {
  for (const Value* v : m.outputs())
    require(v == nullptr || v->producer() != nullptr || v->is_constant() ||
                (v->consumers().empty() && !graph_outputs.contains(v)),
            ErrorCode::kInvalidArgument, "nothing computes '{}' after a match was replaced", v->name());
}

}  // namespace

int64_t replace_all(Graph& graph, const GraphPattern& pattern,
                    const std::function<void(Graph&, const PatternMapping&)>& build) {
  const std::unordered_set<const Value*> graph_outputs(graph.outputs.begin(), graph.outputs.end());
  std::unordered_map<const Node*, size_t> positions;
  for (const auto& n : graph.nodes()) positions.emplace(n.get(), positions.size());
  const size_t before = positions.size();
  std::vector<bool> is_gone(before, false);
  std::vector<std::vector<Node*>> added(before);  // by the position after which they come
  int64_t replaced = 0;
  for (const PatternMapping& m : pattern.match_all(graph)) {
    const std::vector<Node*> nodes = m.nodes();
    if (std::any_of(nodes.begin(), nodes.end(), [&](const Node* n) { return is_gone[positions.at(n)]; }))
      continue;
    size_t last = 0;
    for (Node* n : nodes) {
      is_gone[positions.at(n)] = true;
      last = std::max(last, positions.at(n));
      n->set_inputs({});
      n->set_outputs({});
    }
    const size_t first = graph.nodes().size();
    build(graph, m);
    for (size_t i = first; i < graph.nodes().size(); ++i) added[last].push_back(graph.nodes()[i].get());
    check_outputs(m, graph_outputs);
    ++replaced;
  }
  std::vector<Node*> order;
  for (size_t i = 0; i < before; ++i) {
    if (!is_gone[i]) order.push_back(graph.nodes()[i].get());
    order.insert(order.end(), added[i].begin(), added[i].end());
  }
  if (replaced > 0) graph.reorder_nodes(order);
  return replaced;
}

}  // namespace assay
