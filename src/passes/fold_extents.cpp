// Integers that extents decide: those that are known become constants, comparisons of extents with negative
// numbers too; of several nodes that compute the same extents the first is used; a list of extents that are
// those of a value is asked of that value.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "graph/uses.h"
#include "naming/origins.h"
#include "ops/infer.h"
#include "passes/pass_list.h"

namespace assay::pass_fold_extents {
namespace {

/// The extents as text; empty when one is unknown.
std::string key_of(const Dims& dims) {
  std::string key;
  for (const Dim& d : dims) {
    if (!d.is_known() && !d.is_symbol()) return {};
    key += d.str() + ';';
  }
  return key;
}

bool all_known(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& d) { return d.is_known(); });
}

class Folder {
 public:
  explicit Folder(Model& model) : model_(model), context_(model) {
    infer_shapes(model, {.on_problem = [](const Node&, const std::string&) {},
                         .keep_declared = true,
                         .on_extents = [this](const Value& v, const Dims& dims) { extents_[&v] = dims; }});
  }

  bool run() {
    Graph& g = *model_.graph;
    for (const Value* v : g.inputs) add_source(v);
    for (const auto& n : g.nodes()) visit(*n);
    for (const auto& [kept, all] : origins_)
      if (!gone_.contains(kept)) set_origins(*kept, all.names());
    g.remove_nodes_if([&](const Node& n) { return gone_.contains(&n); });
    return changed_;
  }

 private:
  void add_source(const Value* v) {
    const Dims* dims = dims_of(v);
    if (dims == nullptr || dims->empty() || all_known(*dims)) return;
    if (std::string key = key_of(*dims); !key.empty())
      sources_.emplace(std::move(key), const_cast<Value*>(v));
  }

  void visit(Node& n) {
    if (n.outputs().size() == 1 && n.output(0) != nullptr && !has_subgraph(n)) {
      if (is_op(n, "Equal"))
        compare(n);
      else if (const auto it = extents_.find(n.output(0)); it != extents_.end())
        reduce(n, it->second);
    }
    if (gone_.contains(&n)) return;
    for (const Value* v : n.outputs())
      if (v != nullptr) add_source(v);
  }

  void reduce(Node& n, const Dims& dims) {
    Value* v = n.output(0);
    const DType dtype = dtype_of(v);
    const int rank = rank_of(v);
    if (rank < 0 || rank > 1 || context_.is_pinned(v) || (dtype != DType::kInt64 && dtype != DType::kInt32))
      return;
    if (all_known(dims)) {
      if (v->consumers().empty()) return;
      replace_by_constant(n, dims, rank, dtype);
      return;
    }
    const std::string key = key_of(dims);
    if (key.empty()) return;
    const auto [it, is_new] =
        first_.emplace(std::string(dtype_name(dtype)) + std::to_string(rank) + ':' + key, v);
    if (!is_new) {
      replace_inputs(*v, it->second);
      forget(n, *it->second->producer());
      return;
    }
    const auto source = sources_.find(key);
    if (!is_op(n, "Concat") || source == sources_.end() || dtype != DType::kInt64) return;
    // A list of extents put together: ask the value that has them.
    n.op_type = "Shape";
    n.attributes.clear();
    n.set_inputs({source->second});
    changed_ = true;
  }

  void replace_by_constant(Node& n, const Dims& dims, int rank, DType dtype) {
    std::vector<int64_t> numbers;
    for (const Dim& d : dims) numbers.push_back(d.value());
    Tensor t = Tensor::vector(numbers);
    if (rank == 0) t = t.reshaped(Shape{});
    if (dtype == DType::kInt32) {
      const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
      t = Tensor::from<int32_t>(t.shape(), narrow);
    }
    make_constant(n, std::move(t));
  }

  /// A comparison whose result inference knows: extents are not negative numbers.
  void compare(Node& n) {
    const auto it = extents_.find(n.output(0));
    if (context_.is_pinned(n.output(0)) || it == extents_.end() || !all_known(it->second)) return;
    std::vector<bool> results;
    for (const Dim& d : it->second) results.push_back(d.value() != 0);
    const std::optional<Shape> shape = shape_of(n.output(0));
    if (!shape || shape->numel() != static_cast<int64_t>(results.size())) return;
    make_constant(n, Tensor::vector(results).reshaped(*shape));
  }

  void make_constant(Node& n, Tensor t) {
    Value* v = n.output(0);
    n.set_inputs({});
    n.set_outputs({});
    v->set_tensor(std::move(t));
    gone_.insert(&n);
    changed_ = true;
  }

  void forget(Node& n, Node& kept) {
    const auto [all, is_new] = origins_.try_emplace(&kept);
    if (is_new) all->second.add(origins_of(kept));
    all->second.add(origins_of(n));
    gone_.insert(&n);
    changed_ = true;
  }

  Model& model_;
  std::unordered_map<const Value*, Dims> extents_;
  const PassContext context_;
  std::unordered_map<std::string, Value*> first_;    ///< by type, rank and extents
  std::unordered_map<std::string, Value*> sources_;  ///< values by their own extents
  std::unordered_map<Node*, Origins> origins_;       ///< of nodes that are kept for others, too
  std::unordered_set<const Node*> gone_;
  bool changed_ = false;
};

bool run(Model& model) { return Folder(model).run(); }

}  // namespace

constinit const PassDef def = {
    .name = "fold_extents",
    .summary = "integers that extents decide become constants, and the same extents are asked for once",
    .conditions =
        "Integers of type int64 or int32 and rank 0 or 1 that inference derives from extents; constants only "
        "where all are numbers. Equal symbols are equal extents. Outputs of graphs stay.",
    .run = run,
};

}  // namespace assay::pass_fold_extents
