// ai.onnx.ml: ensembles of trees, as one list of nodes (TreeEnsembleRegressor) and as branches and leaves
// (TreeEnsemble, opset 5).
#include <algorithm>
#include <cmath>
#include <map>

#include "convert/rewrite.h"
#include "convert/steps.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

/// TreeEnsemble's numbers for the words of the older operators.
constexpr const char* kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
constexpr int64_t kLeq = 0, kLt = 1, kEq = 4, kMember = 6;
constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
constexpr int64_t kAverage = 0, kSum = 1;
constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

template <size_t n>
int64_t number_of(const char* const (&words)[n], const std::string& word, const char* what) {
  const auto* const found = std::find(words, words + n, word);
  if (found == words + n) no_equivalent("the {} '{}'", what, word);
  return found - words;
}

template <size_t n>
std::string word_of(const char* const (&words)[n], int64_t number, const char* what) {
  if (number < 0 || number >= static_cast<int64_t>(n)) no_equivalent("the {} {}", what, number);
  return words[number];
}

template <typename T>
T list(Rewrite& r, const std::string& name) {
  if (!r.has(name)) return {};
  const auto* held = r.node().find_attribute(name)->get_if<T>();
  if (held == nullptr) no_equivalent("the attribute '{}' of another kind", name);
  return *held;
}

void to_floats(const Tensor& t, const std::string& name, Floats& numbers) {
  const Tensor wide = to_float64(t);
  for (const double x : wide.span<double>()) {
    numbers.push_back(static_cast<float>(x));
    if (static_cast<double>(numbers.back()) != x && x == x)
      no_equivalent("the attribute '{}' with {}, which no float32 holds,", name, x);
  }
}

/// The floats of an attribute that may be a tensor.
Floats numbers(Rewrite& r, const std::string& name) {
  Floats found = list<Floats>(r, name);
  const std::string as_tensor = name + "_as_tensor";
  if (r.has(as_tensor)) to_floats(list<Tensor>(r, as_tensor), as_tensor, found);
  return found;
}

/// Numbers in a tensor, as floats when they are floats.
void tree_numbers(Rewrite& r) {
  for (const char* name : {"base_values", "nodes_hitrates", "nodes_values", "class_weights", "target_weights"}) {
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

/// What a leaf adds to a target.
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
    no_equivalent("an input of type {}, of which TreeEnsemble would give results of the same type,", dtype_name(r.dtype(0)));
  const NodeList nodes(r);
  const int64_t aggregate = number_of(kAggregates, r.get_string("aggregate_function", "SUM"), "aggregate_function");
  const int64_t transform = number_of(kTransforms, r.get_string("post_transform", "NONE"), "post_transform");
  const bool sums = aggregate == kSum || aggregate == kAverage;
  const size_t copies = std::max<size_t>(nodes.most_votes(), 1);
  if (!sums && nodes.fewest_votes() == 0) no_equivalent("leaves without a vote where the least or greatest counts");
  if (aggregate == kAverage && copies > 1) no_equivalent("leaves with several votes of which an average is taken");
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

/// One tree after the other as a list of nodes.
class ListWriter {
 public:
  explicit ListWriter(Rewrite& r)
      : modes_(list<Tensor>(r, "nodes_modes").to_int64()),
        features_(list<Ints>(r, "nodes_featureids")),
        yes_(list<Ints>(r, "nodes_truenodeids")),
        no_(list<Ints>(r, "nodes_falsenodeids")),
        yes_is_leaf_(list<Ints>(r, "nodes_trueleafs")),
        no_is_leaf_(list<Ints>(r, "nodes_falseleafs")),
        missing_(list<Ints>(r, "nodes_missing_value_tracks_true")),
        targets_(list<Ints>(r, "leaf_targetids")) {
    to_floats(list<Tensor>(r, "nodes_splits"), "nodes_splits", splits_);
    to_floats(list<Tensor>(r, "leaf_weights"), "leaf_weights", weights_);
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
    if (r.has("membership_values")) to_floats(list<Tensor>(r, "membership_values"), "membership_values", members);
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
  // What is written.
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
  const std::string aggregate = word_of(kAggregates, r.get_int("aggregate_function", kSum), "aggregate_function");
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

constinit const Adapter adapter_tree_tensors = {
    .name = "tree_tensors", .summary = "numbers may be tensors of double", .down = tree_numbers};
constinit const Adapter adapter_tree_withdrawn = {
    .name = "tree_withdrawn", .summary = "withdrawn for TreeEnsemble", .up = refuse_or_convert};
constinit const Expansion expansion_ml_TreeEnsemble = {"ai.onnx.ml", "TreeEnsemble", 4, "TreeEnsembleRegressor",
                                                       expand_tree_ensemble};

}  // namespace assay
