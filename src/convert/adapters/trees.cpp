// ai.onnx.ml: ensembles of trees from one list of nodes (TreeEnsembleRegressor) to branches and leaves
// (TreeEnsemble, opset 5).
#include <algorithm>
#include <map>

#include "convert/adapters/tree_lists.h"
#include "convert/rewrite.h"
#include "convert/steps.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using namespace trees;

/// The floats of an attribute that may be a tensor.
Floats numbers(Rewrite& r, const std::string& name) {
  Floats found = list<Floats>(r, name);
  const std::string as_tensor = name + "_as_tensor";
  if (r.has(as_tensor)) to_floats(list<UnalignedTensor>(r, as_tensor), as_tensor, found);
  return found;
}

/// Numbers in a tensor, as floats when they are floats.
void tree_numbers(Rewrite& r) {
  for (const char* name :
       {"base_values", "nodes_hitrates", "nodes_values", "class_weights", "target_weights"}) {
    const std::string as_tensor = fmt::format("{}_as_tensor", name);
    if (!r.has(as_tensor)) continue;
    const Floats found = numbers(r, name);
    r.node().remove_attribute(as_tensor);
    r.node().set_attribute(name, found);
  }
}

int64_t at(const Ints& list, size_t i, const char* name) {
  if (i >= list.size()) no_equivalent("the attribute '{}' with {} entries", name, list.size());
  return list[i];
}

/// The contribution of a leaf to a target.
struct Vote {
  int64_t target = 0;
  float weight = 0;
};

/// TreeEnsemble's lists as they are written.
struct Branches {
  Ints modes, features, missing, yes, no, yes_is_leaf, no_is_leaf, roots, targets;
  Floats splits, weights;

  int64_t leaf(const Vote& v) {
    targets.push_back(v.target);
    weights.push_back(v.weight);
    return static_cast<int64_t>(weights.size()) - 1;
  }
  size_t branch(int64_t mode, int64_t feature, float split, int64_t missing_is_true) {
    modes.push_back(mode);
    features.push_back(feature);
    splits.push_back(split);
    missing.push_back(missing_is_true);
    for (Ints* l : {&yes, &no}) l->push_back(0);
    for (Ints* l : {&yes_is_leaf, &no_is_leaf}) l->push_back(1);
    return modes.size() - 1;
  }
  /// A tree that always gives this vote: both ways of its branch lead to it.
  void constant_tree(const Vote& v) {
    const size_t b = branch(kLeq, 0, 0, 0);
    yes[b] = no[b] = leaf(v);
    roots.push_back(static_cast<int64_t>(b));
  }
};

/// One list of nodes with the votes of leaves, as the older operators have it.
class NodeList {
 public:
  explicit NodeList(Rewrite& r)
      : trees_(list<Ints>(r, "nodes_treeids")),
        ids_(list<Ints>(r, "nodes_nodeids")),
        features_(list<Ints>(r, "nodes_featureids")),
        yes_(list<Ints>(r, "nodes_truenodeids")),
        no_(list<Ints>(r, "nodes_falsenodeids")),
        missing_(list<Ints>(r, "nodes_missing_value_tracks_true")),
        thresholds_(numbers(r, "nodes_values")),
        modes_(list<Strings>(r, "nodes_modes")) {
    if (missing_.empty()) missing_.assign(trees_.size(), 0);
    for (const Ints* l : {&ids_, &features_, &yes_, &no_, &missing_}) check_length(l->size());
    check_length(thresholds_.size());
    check_length(modes_.size());
    for (size_t i = 0; i < trees_.size(); ++i) index_[{trees_[i], ids_[i]}] = i;
    read_votes(r);
  }

  size_t most_votes() const { return extreme_votes(true); }
  size_t fewest_votes() const { return extreme_votes(false); }

  /// All trees; leaves give their `copy`-th vote, or, where they have fewer, their last again or nothing.
  void write(Branches& out, size_t copy, bool repeats) const {
    std::map<size_t, int64_t> places;  // of branches and leaves, in their own lists
    const auto vote = [&](size_t i) {
      const std::vector<Vote>& votes = votes_[i];
      if (copy < votes.size()) return votes[copy];
      return repeats && !votes.empty() ? votes.back() : Vote();
    };
    std::map<int64_t, bool> begun;
    for (size_t i = 0; i < trees_.size(); ++i) {
      const bool is_root = begun.emplace(trees_[i], true).second;
      if (is_leaf(i)) {
        if (is_root)
          out.constant_tree(vote(i));
        else
          places[i] = out.leaf(vote(i));
        continue;
      }
      const int64_t mode = number_of(kModes, modes_[i], "mode");
      places[i] = static_cast<int64_t>(out.branch(mode, features_[i], thresholds_[i], missing_[i] != 0));
      if (is_root) out.roots.push_back(places[i]);
    }
    for (size_t i = 0; i < trees_.size(); ++i) {
      if (is_leaf(i)) continue;
      const auto b = static_cast<size_t>(places.at(i));
      const size_t when_true = find(trees_[i], yes_[i]), when_false = find(trees_[i], no_[i]);
      out.yes_is_leaf[b] = is_leaf(when_true);
      out.no_is_leaf[b] = is_leaf(when_false);
      out.yes[b] = places.at(when_true);
      out.no[b] = places.at(when_false);
    }
  }

 private:
  void check_length(size_t n) const {
    if (n != trees_.size() || trees_.empty()) no_equivalent("lists of {} and {} nodes", trees_.size(), n);
  }
  bool is_leaf(size_t i) const { return modes_[i] == "LEAF"; }
  size_t find(int64_t tree, int64_t id) const {
    const auto it = index_.find({tree, id});
    if (it == index_.end()) no_equivalent("a tree {} without its node {}", tree, id);
    return it->second;
  }

  void read_votes(Rewrite& r) {
    const Ints targets = list<Ints>(r, "target_ids"), trees = list<Ints>(r, "target_treeids"),
               nodes = list<Ints>(r, "target_nodeids");
    const Floats weights = numbers(r, "target_weights");
    votes_.resize(trees_.size());
    for (size_t i = 0; i < targets.size(); ++i) {
      const size_t node = find(at(trees, i, "target_treeids"), at(nodes, i, "target_nodeids"));
      if (i >= weights.size()) no_equivalent("{} weights for {} votes", weights.size(), targets.size());
      votes_[node].push_back({targets[i], weights[i]});
    }
  }

  size_t extreme_votes(bool most) const {
    size_t n = most ? 0 : SIZE_MAX;
    for (size_t i = 0; i < trees_.size(); ++i)
      if (is_leaf(i)) n = most ? std::max(n, votes_[i].size()) : std::min(n, votes_[i].size());
    return n;
  }

  Ints trees_, ids_, features_, yes_, no_, missing_;
  Floats thresholds_;
  Strings modes_;
  std::map<std::pair<int64_t, int64_t>, size_t> index_;
  std::vector<std::vector<Vote>> votes_;
};

/// Leaves of TreeEnsemble vote once: further votes are those of further copies of the trees.
void regressor_to_branches(Rewrite& r) {
  if (r.dtype(0) != DType::kFloat32)
    no_equivalent("an input of type {}, of which TreeEnsemble would give results of the same type,",
                  dtype_name(r.dtype(0)));
  const NodeList nodes(r);
  const int64_t aggregate =
      number_of(kAggregates, r.get_string("aggregate_function", "SUM"), "aggregate_function");
  const int64_t transform = number_of(kTransforms, r.get_string("post_transform", "NONE"), "post_transform");
  const bool sums = aggregate == kSum || aggregate == kAverage;
  const size_t copies = std::max<size_t>(nodes.most_votes(), 1);
  if (!sums && nodes.fewest_votes() == 0)
    no_equivalent("leaves without a vote where the least or greatest counts");
  if (aggregate == kAverage && copies > 1)
    no_equivalent("leaves with several votes of which an average is taken");
  Branches out;
  for (size_t copy = 0; copy < copies; ++copy) nodes.write(out, copy, !sums);
  const Floats base = numbers(r, "base_values");
  for (size_t t = 0; t < base.size(); ++t) {
    if (base[t] == 0) continue;
    if (aggregate != kSum) no_equivalent("the attribute 'base_values' for another aggregate than a sum");
    out.constant_tree({static_cast<int64_t>(t), base[t]});
  }
  const int64_t targets = r.get_int("n_targets", 1);
  Node& n = r.node();
  n.op_type = "TreeEnsemble";
  n.attributes.clear();
  n.set_attribute("n_targets", targets);
  n.set_attribute("aggregate_function", aggregate);
  n.set_attribute("post_transform", transform);
  n.set_attribute("tree_roots", out.roots);
  n.set_attribute("nodes_modes", convert(Tensor::vector(out.modes), DType::kUInt8));
  n.set_attribute("nodes_splits", Tensor::vector(out.splits));
  n.set_attribute("nodes_featureids", out.features);
  n.set_attribute("nodes_truenodeids", out.yes);
  n.set_attribute("nodes_trueleafs", out.yes_is_leaf);
  n.set_attribute("nodes_falsenodeids", out.no);
  n.set_attribute("nodes_falseleafs", out.no_is_leaf);
  if (std::count(out.missing.begin(), out.missing.end(), 1) > 0)
    n.set_attribute("nodes_missing_value_tracks_true", out.missing);
  n.set_attribute("leaf_targetids", out.targets);
  n.set_attribute("leaf_weights", Tensor::vector(out.weights));
}

void refuse_or_convert(Rewrite& r) {
  if (r.node().op_type == "TreeEnsembleRegressor") return regressor_to_branches(r);
  no_equivalent("the operator {}, which opset 5 withdrew,", r.node().op_type);
}

}  // namespace

constinit const Adapter adapter_tree_tensors = {
    .name = "tree_tensors", .summary = "numbers may be tensors of double", .down = tree_numbers};
constinit const Adapter adapter_tree_withdrawn = {
    .name = "tree_withdrawn", .summary = "withdrawn for TreeEnsemble", .up = refuse_or_convert};

}  // namespace assay
