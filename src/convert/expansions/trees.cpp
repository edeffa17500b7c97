// ai.onnx.ml: ensembles of trees from branches and leaves (TreeEnsemble, opset 5) to one list of nodes
// (TreeEnsembleRegressor).
#include <algorithm>
#include <cmath>
#include <map>

#include "convert/adapters/tree_lists.h"
#include "convert/rewrite.h"
#include "convert/steps.h"

namespace assay {
namespace {

using namespace trees;

/// One tree after the other as a list of nodes.
class ListWriter {
 public:
  explicit ListWriter(Rewrite& r)
      : modes_(list<UnalignedTensor>(r, "nodes_modes").to_int64()),
        features_(list<Ints>(r, "nodes_featureids")),
        yes_(list<Ints>(r, "nodes_truenodeids")),
        no_(list<Ints>(r, "nodes_falsenodeids")),
        yes_is_leaf_(list<Ints>(r, "nodes_trueleafs")),
        no_is_leaf_(list<Ints>(r, "nodes_falseleafs")),
        missing_(list<Ints>(r, "nodes_missing_value_tracks_true")),
        targets_(list<Ints>(r, "leaf_targetids")) {
    to_floats(list<UnalignedTensor>(r, "nodes_splits"), "nodes_splits", splits_);
    to_floats(list<UnalignedTensor>(r, "leaf_weights"), "leaf_weights", weights_);
    if (missing_.empty()) missing_.assign(modes_.size(), 0);
    for (const Ints* l : {&features_, &yes_, &no_, &yes_is_leaf_, &no_is_leaf_, &missing_})
      if (l->size() != modes_.size()) no_equivalent("lists of {} and {} nodes", modes_.size(), l->size());
    if (splits_.size() != modes_.size() || targets_.size() != weights_.size())
      no_equivalent("lists of other lengths than those of nodes and leaves");
    read_sets(r);
  }

  void tree(int64_t root) {
    count_ = 0;
    branches_.clear();
    leaves_.clear();
    add(root, false);
    ++tree_;
  }

  void write(Node& n) const {
    n.set_attribute("nodes_treeids", tree_ids_);
    n.set_attribute("nodes_nodeids", ids_);
    n.set_attribute("nodes_featureids", out_features_);
    n.set_attribute("nodes_modes", out_modes_);
    n.set_attribute("nodes_values", values_);
    n.set_attribute("nodes_truenodeids", out_yes_);
    n.set_attribute("nodes_falsenodeids", out_no_);
    n.set_attribute("nodes_missing_value_tracks_true", out_missing_);
    n.set_attribute("target_treeids", vote_trees_);
    n.set_attribute("target_nodeids", vote_nodes_);
    n.set_attribute("target_ids", vote_targets_);
    n.set_attribute("target_weights", vote_weights_);
  }

 private:
  void read_sets(Rewrite& r) {
    Floats members;
    if (r.has("membership_values"))
      to_floats(list<UnalignedTensor>(r, "membership_values"), "membership_values", members);
    auto from = members.begin();
    for (size_t i = 0; i < modes_.size(); ++i) {
      if (modes_[i] != kMember) continue;
      const auto end = std::find_if(from, members.end(), [](float x) { return std::isnan(x); });
      sets_[i] = Floats(from, end);
      from = end == members.end() ? end : end + 1;
    }
  }

  /// A node of the list that is being written; returns its place in it.
  size_t put(const std::string& mode, int64_t feature, float value, int64_t missing) {
    tree_ids_.push_back(tree_);
    ids_.push_back(count_++);
    out_modes_.push_back(mode);
    out_features_.push_back(feature);
    values_.push_back(value);
    out_missing_.push_back(missing);
    out_yes_.push_back(0);
    out_no_.push_back(0);
    return ids_.size() - 1;
  }

  int64_t add(int64_t number, bool is_leaf) {
    const auto i = static_cast<size_t>(number);
    if (number < 0 || i >= (is_leaf ? weights_.size() : modes_.size()))
      no_equivalent("a tree without its {} {}", is_leaf ? "leaf" : "node", number);
    std::map<size_t, int64_t>& known = is_leaf ? leaves_ : branches_;
    if (const auto it = known.find(i); it != known.end()) return it->second;
    if (!is_leaf) {
      if (++depth_ > kDeepest) no_equivalent("a tree that is more than {} branches deep", kDeepest);
      const int64_t id = add_branch(i);
      --depth_;
      return id;
    }
    const int64_t id = known[i] = ids_[put("LEAF", 0, 0, 0)];
    vote_trees_.push_back(tree_);
    vote_nodes_.push_back(id);
    vote_targets_.push_back(targets_[i]);
    vote_weights_.push_back(weights_[i]);
    return id;
  }

  /// A branch by a set is one comparison after the other.
  int64_t add_branch(size_t i) {
    Floats values = {splits_[i]};
    std::string mode;
    if (modes_[i] == kMember) {
      values = sets_[i];
      mode = kModes[kEq];
      if (values.empty()) {
        // Nothing is below this.
        values = {-INFINITY};
        mode = kModes[kLt];
      }
    } else {
      mode = word_of(kModes, modes_[i], "mode");
    }
    std::vector<size_t> chain;
    for (const float v : values) chain.push_back(put(mode, features_[i], v, missing_[i]));
    branches_[i] = ids_[chain[0]];
    const int64_t yes = add(yes_[i], yes_is_leaf_[i] != 0), no = add(no_[i], no_is_leaf_[i] != 0);
    for (size_t k = 0; k < chain.size(); ++k) {
      out_yes_[chain[k]] = yes;
      out_no_[chain[k]] = k + 1 < chain.size() ? ids_[chain[k + 1]] : no;
    }
    return branches_[i];
  }

  static constexpr int64_t kDeepest = 10000;

  Ints modes_, features_, yes_, no_, yes_is_leaf_, no_is_leaf_, missing_, targets_;
  Floats splits_, weights_;
  std::map<size_t, Floats> sets_;
  // The output lists.
  int64_t tree_ = 0, count_ = 0, depth_ = 0;
  std::map<size_t, int64_t> branches_, leaves_;
  Ints tree_ids_, ids_, out_features_, out_yes_, out_no_, out_missing_;
  Ints vote_trees_, vote_nodes_, vote_targets_;
  Strings out_modes_;
  Floats values_, vote_weights_;
};

void expand_tree_ensemble(Rewrite& r) {
  if (r.dtype(0) != DType::kFloat32)
    no_equivalent("results of type {}, where older ensembles give float32", dtype_name(r.dtype(0)));
  const std::string aggregate =
      word_of(kAggregates, r.get_int("aggregate_function", kSum), "aggregate_function");
  const std::string transform = word_of(kTransforms, r.get_int("post_transform", 0), "post_transform");
  const int64_t targets = r.get_int("n_targets", 1);
  ListWriter trees(r);
  for (const int64_t root : list<Ints>(r, "tree_roots")) trees.tree(root);
  Node& n = r.node();
  n.op_type = "TreeEnsembleRegressor";
  n.attributes.clear();
  n.set_attribute("n_targets", targets);
  n.set_attribute("aggregate_function", aggregate);
  n.set_attribute("post_transform", transform);
  trees.write(n);
}

}  // namespace

constinit const Expansion expansion_ml_TreeEnsemble = {"ai.onnx.ml", "TreeEnsemble", 4,
                                                       "TreeEnsembleRegressor", expand_tree_ensemble};

}  // namespace assay
