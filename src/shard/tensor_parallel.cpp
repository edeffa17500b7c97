#include "shard/tensor_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "assay/error.h"
#include "base/diagnostics.h"
#include "base/wording.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "graph/read.h"
#include "shard/node_search.h"
#include "shard/part_walk.h"
#include "shard/refuse.h"

namespace assay {
namespace {

constexpr std::string_view kAttention = "AttentionPlugin";
constexpr const char *kQHeads = "num_q_heads", *kKvHeads = "num_kv_heads";
/// The dimension of a cache that counts its heads.
constexpr size_t kCacheHeads = 2;

Node* found(Node* n) {
  if (n != nullptr) diag::info("Found node {}", n->name);
  return n;
}

struct Mlp {
  Node *gate, *up, *down;
};

class TensorSharder {
 public:
  TensorSharder(Model& model, const ShardHints& hints, ShardNames& names)
      : model_(model),
        graph_(*model.graph),
        hints_(hints),
        names_(names),
        slices_(hints.dist_collectives.nb_rank) {}

  WeightSlices run() {
    sort_topologically(graph_);
    const ShapesBefore shapes(model_);
    find_layers();
    for (const WeightSlice& s : slices_.all()) log_slice(s);
    slices_.separate_shared();
    std::unordered_set<const Value*> fixed = add_all_reduces();
    for (Node* attention : attentions_) divide_heads(*attention);
    graph_.remove_unused_values();
    sort_topologically(graph_);
    check(shapes, std::move(fixed));
    return std::move(slices_);
  }

 private:
  void find_layers() {
    const NodeSearch search(graph_);
    for (const auto& n : graph_.nodes())
      if (n->op_type == kAttention) add_attention(*n, search);
    for (const auto& n : graph_.nodes())
      if (is_op(*n, "Sigmoid")) add_mlp(*n, search);
    if (!sums_.empty()) return;
    refuse_to_shard(
        "there is nothing to shard: the model has neither a node AttentionPlugin nor a gated MLP (MatMul, "
        "Sigmoid, Mul, MatMul)",
        Say::kShardSequence);
  }

  // ---- attention

  void add_attention(Node& attention, const NodeSearch& search) {
    with_context(
        [&] { return node_place(attention.label()); },
        [&] {
          Node* stacked = found(search.before(attention.input(0), "Concat", 2));
          const Node& start = stacked != nullptr ? *stacked : attention;
          std::array<Node*, 3> projections;
          constexpr std::array<const char*, 3> kNames = {"q", "k", "v"};
          for (size_t i = 0; i < projections.size(); ++i) {
            projections[i] = found(search.before(start.input(i), "MatMul"));
            require_layer(projections[i], fmt::format("before its {}", kNames[i]));
            if (std::find(projections.begin(), projections.begin() + i, projections[i]) !=
                projections.begin() + i)
              refuse_to_shard(
                  fmt::format(
                      "{} computes more than one of q, k and v, whose columns are no parts that lie together",
                      projections[i]->label()),
                  "Split its weight into three MatMuls first.");
          }
          Node* output = found(search.after(attention.output(0), "MatMul"));
          require_layer(output, "after it");
          for (Node* p : projections) cut_columns(*p, {&attention, output}, search);
          cut_rows(*output);
          require_inside(attention.output(0),
                         PartWalk(model_, search, {&attention, output}).run(attention.output(0)));
          attentions_.push_back(&attention);
        });
  }

  static void require_layer(const Node* n, const std::string& where) {
    if (n == nullptr)
      refuse_to_shard(fmt::format("there is no MatMul at most {} nodes {}", NodeSearch::kMaxDepth, where),
                      "Only attention between MatMuls can be sharded.");
  }

  // ---- MLPs

  /// The gated MLP around a Sigmoid; nothing when it is part of another structure.
  static std::optional<Mlp> find_mlp(const Node& sigmoid, const NodeSearch& search) {
    Node* gate = found(search.before(sigmoid.input(0), "MatMul"));
    Node* swish = search.after(sigmoid.output(0), "Mul");
    if (gate == nullptr || swish == nullptr) return std::nullopt;
    found(swish);
    Node* product = found(search.after(swish->output(0), "Mul"));
    if (product == nullptr || product->inputs().size() != 2) return std::nullopt;
    // Either operand may be the one that is not the gate's.
    Node* up = search.before(product->input(1), "MatMul");
    if (up == gate) up = search.before(product->input(0), "MatMul");
    Node* down = search.after(product->output(0), "MatMul");
    if (up == nullptr || up == gate || down == nullptr) return std::nullopt;
    return Mlp{.gate = gate, .up = found(up), .down = found(down)};
  }

  void add_mlp(const Node& sigmoid, const NodeSearch& search) {
    const std::optional<Mlp> mlp = find_mlp(sigmoid, search);
    const auto leave = [&](const std::string& why) {
      diag::warning("Node {} is left as it is: it is no part of a gated MLP that can be sharded ({}).",
                    sigmoid.label(), why);
    };
    if (!mlp) return leave("its MatMuls were not found");
    for (const Node* n : {mlp->gate, mlp->up}) {
      const PartWalk::Result way = PartWalk(model_, search, {mlp->down}).run(n->output(0));
      if (!way.leak.empty()) return leave(way.leak);
      if (!way.not_elementwise.empty()) return leave(way.not_elementwise);
    }
    with_context([&] { return node_place(sigmoid.label()); },
                 [&] {
                   cut_columns(*mlp->up, {mlp->down}, search);
                   cut_rows(*mlp->down);
                   cut_columns(*mlp->gate, {mlp->down}, search);
                 });
  }

  // ---- weights

  /// The weight of a MatMul, and element-wise operands of its columns.
  void cut_columns(Node& matmul, const PartWalk::Ends& ends, const NodeSearch& search) {
    const int64_t width = slices_.cut(matmul, 1, 1);
    const PartWalk::Result way = PartWalk(model_, search, ends).run(matmul.output(0));
    require_inside(matmul.output(0), way);
    for (const PartWalk::Operand& o : way.column_operands) {
      const UnalignedTensor* t = constant_of(o.node->input(o.input));
      if (t != nullptr && t->rank() > 0 && t->shape().back() == width && width > 1)
        slices_.cut(*o.node, o.input, t->shape().size() - 1);
    }
  }

  void cut_rows(Node& matmul) {
    slices_.cut(matmul, 1, 0);
    Value* sum = matmul.output(0);
    if (std::find(sums_.begin(), sums_.end(), sum) == sums_.end()) sums_.push_back(sum);
  }

  static void require_inside(const Value* v, const PartWalk::Result& way) {
    if (!way.leak.empty())
      refuse_to_shard(fmt::format("each rank would have a part of '{}' only, but {}", v->name(), way.leak),
                      "Only what stays between the MatMuls of a layer can be sharded.");
  }

  void log_slice(const WeightSlice& s) const {
    Shape part = s.weight->tensor().shape();
    part[s.axis] /= slices_.ranks();
    diag::info("{} going from {} -> {}", s.weight->name(), s.weight->tensor().shape().str(), part.str());
  }

  // ---- the graph

  std::unordered_set<const Value*> add_all_reduces() {
    CollectiveAdder add(graph_, hints_.dist_collectives, names_);
    std::unordered_set<const Value*> fixed;
    for (Value* v : sums_) {
      const bool is_output =
          std::find(graph_.outputs.begin(), graph_.outputs.end(), v) != graph_.outputs.end();
      const std::vector<Node*> users = v->consumers();
      Value* sum = add.collective(Collective::kAllReduce, v, 0, {});
      for (Node* n : users)
        for (size_t i = 0; i < n->inputs().size(); ++i)
          if (n->input(i) == v) n->set_input(i, sum);
      sum->type = v->type;
      fixed.insert(v);
      fixed.insert(sum);
      if (!is_output) continue;
      std::replace(graph_.outputs.begin(), graph_.outputs.end(), v, sum);
      take_output_place(*v, *sum);
    }
    return fixed;
  }

  void divide_heads(Node& attention) {
    const int64_t ranks = slices_.ranks();
    const int64_t q = int_attribute(attention, kQHeads, 0), kv = int_attribute(attention, kKvHeads, 0);
    with_context(
        [&] { return node_place(attention.label()); },
        [&] {
          if (q <= 0 || kv <= 0)
            refuse_to_shard(
                fmt::format("the attributes {} and {} must be numbers of heads", kQHeads, kKvHeads),
                "Give the node both attributes.");
          if (q % ranks != 0 || kv % ranks != 0)
            refuse_to_shard(
                fmt::format("Q heads or KV heads are not evenly divisible by {}: there are {} and {}", ranks,
                            q, kv),
                Say::kRanks, {"both"});
          attention.set_attribute(kQHeads, q / ranks);
          attention.set_attribute(kKvHeads, kv / ranks);
          divide_cache(attention.input(attention.inputs().size() == 6 ? 1 : 3), /*backward=*/true);
          divide_cache(attention.output(1), /*backward=*/false);
        });
  }

  /// The heads of a cache, and of the tensors that it is copied from or to.
  void divide_cache(Value* v, bool backward) {
    while (v != nullptr && caches_.insert(v).second) {
      if (v->type.has_shape() && v->type.dims->size() > kCacheHeads) {
        Dim& heads = (*v->type.dims)[kCacheHeads];
        if (heads.is_known() && heads.value() % slices_.ranks() != 0)
          refuse_to_shard(fmt::format("the {} heads of the cache '{}' are not evenly divisible by {}",
                                      heads.value(), v->name(), slices_.ranks()),
                          Say::kRanks, {"them"});
        if (heads.is_known()) heads = Dim(heads.value() / slices_.ranks());
      }
      const auto copies = [](const Node* n) {
        return n != nullptr && (is_op(*n, "Cast") || is_op(*n, "Identity"));
      };
      const Node* next =
          backward ? v->producer() : (v->consumers().size() == 1 ? v->consumers()[0] : nullptr);
      v = !copies(next) ? nullptr : backward ? next->input(0) : next->output(0);
    }
  }

  /// Infers the shapes that every rank has.
  void check(const ShapesBefore& shapes, std::unordered_set<const Value*> fixed) {
    fixed.insert(caches_.begin(), caches_.end());
    fixed.insert(graph_.outputs.begin(), graph_.outputs.end());
    const std::vector<WeightSlice>& all = slices_.all();
    std::vector<std::pair<UnalignedTensor, std::shared_ptr<const TensorSource>>> whole;
    for (const WeightSlice& s : all) whole.emplace_back(s.weight->tensor(), s.weight->shared_tensor_source());
    keep_shapes_of_parts(slices_);
    shapes.update(model_, fixed);
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].weight->set_tensor(whole[i].first);
      all[i].weight->set_tensor_source(whole[i].second);
    }
  }

  Model& model_;
  Graph& graph_;
  const ShardHints& hints_;
  ShardNames& names_;
  WeightSlices slices_;
  std::vector<Node*> attentions_;
  std::vector<Value*> sums_;  ///< partial results
  std::unordered_set<Value*> caches_;
};

}  // namespace

WeightSlices shard_tensors(Model& model, const ShardHints& hints, ShardNames& names) {
  return TensorSharder(model, hints, names).run();
}

std::shared_ptr<Model> rank_model(const Model& prepared, const WeightSlices& slices, int64_t rank) {
  std::shared_ptr<Model> model = clone_model(prepared);
  keep_slices_of_rank(*model, slices, rank);
  return model;
}

}  // namespace assay
