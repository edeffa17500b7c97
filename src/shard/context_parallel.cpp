#include "shard/context_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "assay/error.h"
#include "base/diagnostics.h"
#include "base/similar_name.h"
#include "base/wording.h"
#include "graph/order.h"
#include "shard/attention.h"
#include "shard/collectives.h"
#include "shard/refuse.h"

namespace assay {
namespace {

using ValueSet = std::unordered_set<const Value*>;

/// A layer of the hints and its position in the graph.
struct Layer {
  const AttentionLayerHint* hint;
  AttentionMatch match;
  const Value* first_q;  ///< the first MatMul's operand before anything is inserted

  bool gathers() const { return !hint->replace && hint->gather_kv; }
  Value* q() const { return match.scores->input(0); }
  Value* k() const { return match.scores->input(1); }
  Value* v() const { return match.context->input(1); }
};

Value* find(const Graph& g, const std::string& name, const char* what) {
  if (Value* v = g.find_value(name)) return v;
  std::vector<std::string_view> names;
  for (const auto& v : g.values()) names.push_back(v->name());
  const std::string hint = name_hint(name, names);
  Error e(ErrorCode::kNotFound,
          fmt::format("the hints name the {} '{}', which the model does not have", what, name));
  e.set_remedy(hint + (hint.empty() ? "" : " ") + say(Say::kWriteHints),
               std::string(key_of(Say::kWriteHints)));
  throw e;
}

/// Each match gets the hint of its q; of several hints for one q each match gets its own, in order, and the
/// last for the rest.
std::vector<Layer> pair_layers(const Graph& g, const ShardHints& hints,
                               const std::vector<AttentionMatch>& matches, int pattern) {
  std::vector<Layer> layers;
  std::unordered_set<const Node*> taken;
  for (auto hint = hints.attention_layers.begin(); hint != hints.attention_layers.end(); ++hint) {
    find(g, hint->q, "tensor");
    const bool is_last = std::none_of(std::next(hint), hints.attention_layers.end(),
                                      [&](const AttentionLayerHint& h) { return h.q == hint->q; });
    const size_t before = layers.size();
    for (const AttentionMatch& m : matches) {
      if (m.q->name() != hint->q || !taken.insert(m.context).second) continue;
      layers.push_back({&*hint, m, m.scores->input(0)});
      if (!is_last) break;
    }
    if (layers.size() > before) continue;
    Error e(ErrorCode::kNotFound, fmt::format("the hints name an attention layer with q '{}', and the model "
                                              "has no {}layer of attention pattern {} there",
                                              hint->q, before > 0 ? "further " : "", pattern));
    throw set_remedy(e, Say::kAttentionPattern);
  }
  return layers;
}

/// The users of a value in a graph, in the order of the
/// nodes; nodes with subgraphs use the captured values.
class Users {
 public:
  explicit Users(const Graph& g) {
    for (const auto& n : g.nodes())
      for (const Value* v : used_values(*n)) users_[v].push_back(n.get());
  }
  const std::vector<Node*>& of(const Value* v) const {
    const auto it = users_.find(v);
    return it != users_.end() ? it->second : none_;
  }

 private:
  std::unordered_map<const Value*, std::vector<Node*>> users_;
  std::vector<Node*> none_;
};

/// A rank's share of each value of a graph, before anything is inserted: a part of its sequence, or all of it
/// after gathering. Values that depend on no input of the hints are neither.
class Distribution {
 public:
  /// The nodes are sorted.
  Distribution(const Graph& g, const std::vector<Layer>& layers, const std::vector<Value*>& scattered,
               const ValueSet& gathered) {
    for (const Layer& l : layers) {
      scores_.emplace(l.match.scores, &l);
      contexts_.emplace(l.match.context, &l);
    }
    parts_.insert(scattered.begin(), scattered.end());
    for (const auto& n : g.nodes()) visit(*n, gathered);
    const Users users(g);
    for (const auto& n : g.nodes())
      if (const auto it = scores_.find(n.get()); it != scores_.end()) spread(*it->second, users);
  }

  bool is_part(const Value* v) const { return parts_.contains(v) && !whole_.contains(v); }
  bool is_whole(const Value* v) const { return whole_.contains(v); }
  /// True for a q that is gathered as k or v of its layer, so that all its users get the whole.
  bool is_root(const Value* v) const { return roots_.contains(v); }
  void set_whole(const Value* v) { whole_.insert(v); }

 private:
  void visit(const Node& n, const ValueSet& gathered) {
    bool part = false, whole = false;
    const auto look = [&](const Value* v) {
      part |= is_part(v);
      whole |= is_whole(v);
    };
    if (const auto it = scores_.find(&n); it != scores_.end()) {
      look(it->second->q());
      if (!it->second->hint->replace && it->second->hint->gather_q) whole = !(part = false);
    } else if (contexts_.contains(&n)) {
      look(n.input(0));
    } else {
      for (const Value* v : used_values(n)) look(v);
      if (part && whole) refuse_mixture(n);
    }
    for (const Value* v : n.outputs()) {
      if (v == nullptr) continue;
      if (gathered.contains(v))
        whole_.insert(v);
      else if (part)
        parts_.insert(v);
      else if (whole && !parts_.contains(v))
        whole_.insert(v);
    }
  }

  [[noreturn]] static void refuse_mixture(const Node& n) {
    Error e(
        ErrorCode::kInvalidArgument,
        fmt::format("node {} would get a part of one tensor and the whole of another, which the hints gather",
                    n.label()));
    e.set_remedy("Set gather_q to false, or gather the other tensor, too.");
    throw e;
  }

  /// If q is also k or v, everything computed from it becomes whole, unless that would be combined with parts
  /// elsewhere.
  void spread(const Layer& layer, const Users& users) {
    const Value* root = layer.q();
    if (!layer.gathers() || (root != layer.k() && root != layer.v()) || is_whole(root) || is_root(root))
      return;
    ValueSet following = {root};
    std::vector<const Value*> open = {root};
    while (!open.empty()) {
      const Value* v = open.back();
      open.pop_back();
      for (const Node* n : users.of(v))
        for (const Value* out : n->outputs())
          if (out != nullptr && following.insert(out).second) open.push_back(out);
    }
    for (const Value* v : following)
      for (const Node* n : users.of(v))
        for (const Value* other : used_values(*n))
          if (!following.contains(other) && is_part(other) && !is_gathered_for(*n, other)) return;
    following.erase(root);
    whole_.insert(following.begin(), following.end());
    roots_.insert(root);
  }

  bool is_gathered_for(const Node& n, const Value* v) const {
    const auto s = scores_.find(&n), c = contexts_.find(&n);
    return (s != scores_.end() && s->second->gathers() && s->second->k() == v && s->second->q() != v) ||
           (c != contexts_.end() && c->second->gathers() && c->second->v() == v);
  }

  std::unordered_map<const Node*, const Layer*> scores_, contexts_;
  ValueSet parts_, whole_, roots_;
};

void rewire(const std::vector<Node*>& nodes, const Value* from, Value* to) {
  for (Node* n : nodes)
    for (size_t i = 0; i < n->inputs().size(); ++i)
      if (n->input(i) == from) n->set_input(i, to);
}

class ContextSharder {
 public:
  ContextSharder(Model& model, const ShardHints& hints, ShardNames& names)
      : model_(model),
        graph_(*model.graph),
        hints_(hints),
        names_(names),
        add_(graph_, hints.dist_collectives, names) {}

  void run(int pattern) {
    sort_topologically(graph_);
    const ShapesBefore shapes(model_);
    const std::vector<Value*> outputs_before = graph_.outputs;
    const std::vector<AttentionMatch> matches = find_attention(graph_, pattern);
    const std::vector<Layer> layers = pair_layers(graph_, hints_, matches, pattern);
    const std::vector<Value*> inputs = find_all(hints_.inputs, "input"),
                              outputs = find_all(hints_.outputs, "output");
    for (const Layer& layer : layers) require_untouched(layer, inputs, outputs);
    for (const Value* v : inputs) input_dims_.emplace(v, hints_.inputs[input_dims_.size()].seq_len_idx);
    Distribution distribution(graph_, layers, inputs, intermediate(outputs));
    distribution_ = &distribution;

    for (size_t i = 0; i < inputs.size(); ++i) scatter(*inputs[i], hints_.inputs[i]);
    diag::info("Found {} attention pattern matches in the graph.", matches.size());
    for (const Layer& layer : layers) shard(layer);
    for (size_t i = 0; i < outputs.size(); ++i) gather_output(*outputs[i], hints_.outputs[i]);

    std::unordered_set<const Value*> fixed = add_.results();
    finish_outputs(outputs_before, fixed);
    graph_.remove_unused_values();
    sort_topologically(graph_);
    shapes.update(model_, fixed);
  }

 private:
  std::vector<Value*> find_all(const std::vector<ShardTensor>& tensors, const char* what) const {
    std::vector<Value*> values;
    for (const ShardTensor& t : tensors) {
      Value* v = find(graph_, t.name, what);
      if (std::find(values.begin(), values.end(), v) != values.end())
        fail(ErrorCode::kInvalidArgument, "the hints name the {} '{}' twice", what, t.name);
      values.push_back(v);
    }
    return values;
  }

  /// Nothing may be inserted between the nodes of a layer.
  static void require_untouched(const Layer& layer, const std::vector<Value*>& inputs,
                                const std::vector<Value*>& outputs) {
    for (const Node* n : {layer.match.scores, layer.match.softmax})
      for (const std::vector<Value*>* list : {&inputs, &outputs})
        if (std::find(list->begin(), list->end(), n->output(0)) != list->end())
          refuse_to_shard(
              fmt::format("the hints name the tensor '{}', which lies inside the attention layer with q '{}'",
                          n->output(0)->name(), layer.hint->q),
              "Name what goes into the layer or comes out of it.");
  }

  bool is_output(const Value* v) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), v) != graph_.outputs.end();
  }

  /// Tensors of the hints' outputs that are not outputs of the model: their users get the whole.
  ValueSet intermediate(const std::vector<Value*>& values) const {
    ValueSet set;
    for (const Value* v : values)
      if (!is_output(v)) set.insert(v);
    return set;
  }

  void scatter(Value& v, const ShardTensor& hint) {
    const std::vector<Node*> users = v.consumers();
    rewire(users, &v, add_.collective(Collective::kReduceScatter, &v, hint.seq_len_idx, hint.rank));
  }

  /// The value gathered; itself if it is whole.
  Value* whole(Value* v, int64_t dim, const std::optional<int64_t>& rank) {
    if (distribution_->is_whole(v)) return v;
    if (const auto it = gathered_.find({v, dim}); it != gathered_.end()) return it->second;
    const std::vector<Node*> users = v->consumers();
    Value* result = add_.collective(Collective::kAllGather, v, dim, rank);
    distribution_->set_whole(result);
    gathered_.emplace(std::pair(v, dim), result);
    if (roots_.contains(v)) rewire(users, v, result);
    return result;
  }

  void shard(const Layer& layer) {
    const auto python = [](bool b) { return b ? "True" : "False"; };
    diag::info("Processing attention layer: q={}, gather_q={}, gather_kv={}", layer.hint->q,
               python(layer.hint->gather_q), python(layer.hint->gather_kv));
    if (layer.hint->replace)
      fuse(layer, *layer.hint->replace);
    else
      gather(layer);
  }

  void gather(const Layer& layer) {
    Node& scores = *layer.match.scores;
    Node& context = *layer.match.context;
    // Users in the original graph: a root's gathered tensor replaces it everywhere.
    Value *q = layer.q(), *k = layer.k(), *v = layer.v();
    if (layer.hint->gather_q) scores.set_input(0, whole(q, q_dimension(layer), {}));
    if (!layer.hint->gather_kv) return;
    if (distribution_->is_root(layer.first_q) && (q == k || q == v)) roots_.insert(q);
    scores.set_input(1, whole(k, hints_.k_seq_len_idx, hints_.kv_rank));
    context.set_input(1, whole(v, v == k ? hints_.k_seq_len_idx : hints_.v_seq_len_idx, hints_.kv_rank));
  }

  /// q has the layout of v, unless it is an input with a dimension in the hints.
  int64_t q_dimension(const Layer& layer) const {
    const auto it = input_dims_.find(layer.match.q);
    return it != input_dims_.end() ? it->second : hints_.v_seq_len_idx;
  }

  void fuse(const Layer& layer, const FusedAttention& fused) {
    const auto shuffled = [&](Value* v, const std::optional<Permutation>& perm) {
      return perm && !perm->empty() ? add_.transpose(v, *perm) : v;
    };
    Value* q = shuffled(layer.q(), fused.q_shuffle);
    Value* k = shuffled(layer.k(), fused.k_shuffle);
    Value* v = shuffled(layer.v(), fused.v_shuffle);
    Value* result = layer.match.context->output(0);
    for (Node* n : {layer.match.scores, layer.match.softmax, layer.match.context}) graph_.remove_node(n);
    graph_.add_node("Attention", {q, k, v}, {result},
                    {{"is_causal", int64_t{fused.is_causal}},
                     {"scale", 1.0F},
                     {"TRT_decomposable", int64_t{0}},
                     {"nb_rank", fused.nb_rank}},
                    names_.next());
  }

  void gather_output(Value& v, const ShardTensor& hint) {
    const bool leaves = is_output(&v);
    if (leaves && (v.producer() == nullptr || distribution_->is_whole(&v))) return;
    const std::vector<Node*> users = v.consumers();
    Value* result = leaves ? whole(&v, hint.seq_len_idx, hint.rank)
                           : add_.collective(Collective::kAllGather, &v, hint.seq_len_idx, hint.rank);
    if (leaves)
      std::replace(graph_.outputs.begin(), graph_.outputs.end(), &v, result);
    else
      rewire(users, &v, result);
  }

  /// The model's outputs keep their names, and their types if they are whole.
  void finish_outputs(const std::vector<Value*>& before, std::unordered_set<const Value*>& fixed) {
    for (size_t i = 0; i < before.size(); ++i) {
      Value *old = before[i], *now = graph_.outputs[i];
      if (now != old && distribution_->is_whole(now) && fixed_names_.insert(now).second)
        take_output_place(*old, *now);
      if (now != old || !distribution_->is_part(now)) fixed.insert(now);
    }
  }

  Model& model_;
  Graph& graph_;
  const ShardHints& hints_;
  ShardNames& names_;
  CollectiveAdder add_;
  Distribution* distribution_ = nullptr;
  std::map<std::pair<Value*, int64_t>, Value*> gathered_;
  std::unordered_map<const Value*, int64_t> input_dims_;
  ValueSet roots_;        ///< after inputs were scattered
  ValueSet fixed_names_;  ///< outputs that already have their names
};

}  // namespace

void shard_context(Model& model, const ShardHints& hints, int attention_pattern, ShardNames& names) {
  ContextSharder(model, hints, names).run(attention_pattern);
}

}  // namespace assay
