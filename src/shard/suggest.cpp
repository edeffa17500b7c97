#include "shard/suggest.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/diagnostics.h"
#include "graph/order.h"
#include "shard/attention.h"

namespace assay {
namespace {

/// The inputs and outputs of a graph that its
/// attention layers reach; each is reported once.
class DependencyWalk {
 public:
  explicit DependencyWalk(const Graph& g)
      : inputs_(g.inputs.begin(), g.inputs.end()), outputs_(g.outputs.begin(), g.outputs.end()) {
    for (const auto& n : g.nodes())
      for (const Value* v : used_values(*n)) users_[v].push_back(n.get());
  }

  std::vector<Value*> inputs_of(Node* layer) {
    return walk(
        layer, up_, inputs_, [](const Node& n) { return used_values(n); },
        [](const Value& v) {
          return v.producer() != nullptr ? std::vector<Node*>{v.producer()} : std::vector<Node*>{};
        });
  }

  std::vector<Value*> outputs_of(Node* layer) {
    return walk(
        layer, down_, outputs_, [](const Node& n) { return n.outputs(); },
        [&](const Value& v) {
          const auto it = users_.find(&v);
          return it != users_.end() ? it->second : std::vector<Node*>{};
        });
  }

 private:
  template <typename Edges, typename Next>
  std::vector<Value*> walk(Node* start, std::unordered_set<const Node*>& visited,
                           const std::unordered_set<const Value*>& ends, const Edges& edges,
                           const Next& next) {
    std::vector<Value*> found;
    std::vector<Node*> open = {start};
    while (!open.empty()) {
      Node* n = open.back();
      open.pop_back();
      if (!visited.insert(n).second) continue;
      for (Value* v : edges(*n)) {
        if (v == nullptr) continue;
        if (ends.contains(v) && reached_.insert(v).second) {
          diag::info("Found dependent tensor {}", v->name());
          found.push_back(v);
        }
        for (Node* further : next(*v))
          if (!visited.contains(further)) open.push_back(further);
      }
    }
    return found;
  }

  std::unordered_set<const Value*> inputs_, outputs_, reached_;
  std::unordered_map<const Value*, std::vector<Node*>> users_;
  std::unordered_set<const Node*> up_, down_;
};

/// The model's rank, if it is not 0.
std::optional<int64_t> known_rank(const Value& v) {
  if (!v.type.has_shape() || v.type.dims->empty()) return std::nullopt;
  return static_cast<int64_t>(v.type.dims->size());
}

std::optional<int64_t> rank_or(const Value& v, const std::optional<int64_t>& fallback) {
  const auto known = known_rank(v);
  return known ? known : fallback;
}

int64_t sequence_dimension(const Value& v, int64_t fallback) {
  if (!v.type.has_shape()) return fallback;
  const auto is_sequence = [](const Dim& d) {
    return d.symbol() == "sequence_length" || d.symbol() == "seq_len";
  };
  const auto it = std::find_if(v.type.dims->begin(), v.type.dims->end(), is_sequence);
  if (it == v.type.dims->end()) return fallback;
  const int64_t index = it - v.type.dims->begin();
  diag::info("Found sequence_length index at {} for tensor {}", index, v.name());
  return index;
}

std::vector<ShardTensor> shard_tensors(const std::vector<Value*>& values, int64_t index,
                                       const std::optional<int64_t>& rank) {
  std::vector<ShardTensor> out;
  for (const Value* v : values) out.push_back({v->name(), sequence_dimension(*v, index), rank_or(*v, rank)});
  return out;
}

void append(std::vector<Value*>& to, const std::vector<Value*>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

ShardHints suggest_hints(const Graph& graph, const HintOptions& options) {
  ShardHints hints{.parallelism = options.parallelism,
                   .dist_collectives = options.collectives,
                   .k_seq_len_idx = options.k_idx,
                   .v_seq_len_idx = options.v_idx};
  DependencyWalk walk(graph);
  std::vector<Value*> inputs, outputs;
  for (const AttentionMatch& m : find_attention(graph, options.attention_pattern)) {
    diag::info("Found attention layer with Q tensor {}", m.q->name());
    if (!hints.kv_rank) {
      diag::info("Trying to find KV rank...");
      hints.kv_rank = rank_or(known_rank(*m.k) ? *m.k : *m.v, options.kv_rank);
      if (hints.kv_rank) diag::info("KV has rank of {}", *hints.kv_rank);
    }
    if (options.suggest_io) {
      append(inputs, walk.inputs_of(m.context));
      append(outputs, walk.outputs_of(m.context));
    }
    hints.attention_layers.push_back(
        {.q = m.q->name(), .gather_kv = !options.fused, .gather_q = false, .replace = options.fused});
  }
  hints.inputs = shard_tensors(inputs, options.i_idx, options.i_rank);
  hints.outputs = shard_tensors(outputs, options.o_idx, options.o_rank);
  if (!hints.kv_rank) hints.kv_rank = options.kv_rank;
  return hints;
}

}  // namespace assay
