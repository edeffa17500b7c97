#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "ops/ml/forest.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;
using Numbers = std::vector<double>;

void check_length(const OpContext& c, std::string_view name, size_t length, size_t wanted) {
  c.check(length == wanted, "attribute '{}' has {} entries; it must have {}", name, length, wanted);
}

/// An attribute with one entry for each of `count` things.
Ints ints_of_length(const OpContext& c, std::string_view name, size_t count) {
  Ints list = c.attr_ints(name);
  check_length(c, name, list.size(), count);
  return list;
}

/// nodes_missing_value_tracks_true, or zeros.
Ints missing_tracks(const OpContext& c, size_t count) {
  const char* name = "nodes_missing_value_tracks_true";
  return c.has_attr(name) ? ints_of_length(c, name, count) : Ints(count);
}

void check_target(const OpContext& c, int64_t target, int64_t targets) {
  c.check(target >= 0 && target < targets, "a leaf votes for target {}, but there are {}", target, targets);
}

}  // namespace

/// Where each node is listed, by the numbers of its tree and its own.
class Forest::NodeIndex {
 public:
  /// Throws Error when a tree has two nodes of one number.
  NodeIndex(const OpContext& c, const Ints& trees, const Ints& ids) : trees_(trees), ids_(ids) {
    places_.resize(ids.size());
    std::iota(places_.begin(), places_.end(), size_t{0});
    const auto before = [&](size_t a, size_t b) { return key(a) < key(b); };
    if (!std::is_sorted(places_.begin(), places_.end(), before))
      std::sort(places_.begin(), places_.end(), before);
    for (size_t i = 1; i < places_.size(); ++i)
      c.check(key(places_[i - 1]) != key(places_[i]), "tree {} has two nodes {}", trees[places_[i]],
              ids[places_[i]]);
    for (size_t i = 0; i < places_.size(); ++i)
      if (i == 0 || trees[places_[i]] != trees[places_[i - 1]]) begins_.push_back(i);
    begins_.push_back(places_.size());
  }

  /// Throws Error when there is none.
  size_t find(const OpContext& c, int64_t tree, int64_t node) const {
    const std::pair wanted(tree, node);
    // Numbers of a tree's nodes mostly are 0, 1, 2, ...
    const auto begin = std::partition_point(begins_.begin(), begins_.end() - 1,
                                            [&](size_t at) { return trees_[places_[at]] < tree; });
    if (begin != begins_.end() - 1 && node >= 0 &&
        static_cast<uint64_t>(node) < begins_[static_cast<size_t>(begin - begins_.begin()) + 1] - *begin) {
      const size_t place = places_[*begin + static_cast<size_t>(node)];
      if (key(place) == wanted) return place;
    }
    const auto it = std::partition_point(places_.begin(), places_.end(),
                                         [&](size_t place) { return key(place) < wanted; });
    c.check(it != places_.end() && key(*it) == wanted, "tree {} has no node {}", tree, node);
    return *it;
  }

 private:
  std::pair<int64_t, int64_t> key(size_t place) const { return {trees_[place], ids_[place]}; }

  const Ints &trees_, &ids_;
  std::vector<size_t> places_, begins_;  ///< in the order of keys; where a tree's begin, and the end
};

std::vector<double> attr_tensor_numbers(const OpContext& c, std::string_view name) {
  if (!c.has_attr(name)) return {};
  const DType dtype = c.attr_tensor(name).dtype();
  c.check(is_float(dtype), "attribute '{}' is of {}; it must be of floats", name, dtype_name(dtype));
  const Tensor numbers = to_float64(c.attr_tensor(name));
  const auto span = numbers.span<double>();
  return {span.begin(), span.end()};
}

std::vector<double> attr_numbers(const OpContext& c, const std::string& name) {
  Numbers plain = c.attr_floats(name);
  const std::string as_tensor = name + "_as_tensor";
  if (c.since() < 3 || !c.has_attr(as_tensor)) return plain;
  c.check(plain.empty(), "the attributes '{}' and '{}' are both given", name, as_tensor);
  return attr_tensor_numbers(c, as_tensor);
}

Forest::Mode Forest::read_mode(const OpContext& c, const std::string& name) {
  constexpr std::pair<std::string_view, Mode> kModes[] = {
      {"BRANCH_LEQ", Mode::kLeq}, {"BRANCH_LT", Mode::kLt}, {"BRANCH_GTE", Mode::kGte},
      {"BRANCH_GT", Mode::kGt},   {"BRANCH_EQ", Mode::kEq}, {"BRANCH_NEQ", Mode::kNeq},
      {"LEAF", Mode::kLeaf},
  };
  for (const auto& [text, mode] : kModes)
    if (text == name) return mode;
  c.check(false, "attribute 'nodes_modes' has the unknown mode '{}'", name);
  return Mode::kLeaf;
}

Forest Forest::from_node_lists(const OpContext& c, std::string_view prefix, int64_t targets) {
  Forest forest;
  const Ints trees = c.attr_ints("nodes_treeids");
  const size_t count = trees.size();
  c.check(count > 0, "attribute 'nodes_treeids' is empty");
  const Ints ids = ints_of_length(c, "nodes_nodeids", count),
             features = ints_of_length(c, "nodes_featureids", count);
  const Ints yes = ints_of_length(c, "nodes_truenodeids", count),
             no = ints_of_length(c, "nodes_falsenodeids", count);
  const Ints missing = missing_tracks(c, count);
  const Numbers thresholds = attr_numbers(c, "nodes_values");
  check_length(c, "nodes_values", thresholds.size(), count);
  const std::vector<std::string> modes = c.attr_strings("nodes_modes");
  check_length(c, "nodes_modes", modes.size(), count);
  const NodeIndex index(c, trees, ids);
  std::unordered_set<int64_t> begun;
  for (size_t i = 0; i < count; ++i) {
    Node n{.test = read_mode(c, modes[i]), .missing_is_true = missing[i] != 0, .feature = features[i]};
    n.threshold = thresholds[i];
    if (n.test != Mode::kLeaf) {
      n.when_true = index.find(c, trees[i], yes[i]);
      n.when_false = index.find(c, trees[i], no[i]);
    }
    forest.nodes_.push_back(n);
    if (begun.insert(trees[i]).second) forest.roots_.push_back(i);
  }
  forest.read_votes(c, std::string(prefix), targets, index);
  return forest;
}

void Forest::read_votes(const OpContext& c, const std::string& prefix, int64_t targets,
                        const NodeIndex& index) {
  const Ints ids = c.attr_ints(prefix + "_ids");
  const Ints trees = ints_of_length(c, prefix + "_treeids", ids.size());
  const Ints nodes = ints_of_length(c, prefix + "_nodeids", ids.size());
  const Numbers weights = attr_numbers(c, prefix + "_weights");
  check_length(c, prefix + "_weights", weights.size(), ids.size());
  // A leaf's votes must be adjacent.
  std::vector<size_t> node_of(ids.size()), count(nodes_.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    check_target(c, ids[i], targets);
    node_of[i] = index.find(c, trees[i], nodes[i]);
    ++count[node_of[i]];
  }
  size_t total = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].test != Mode::kLeaf) continue;
    nodes_[i].first = nodes_[i].last = total;
    total += count[i];
  }
  votes_.resize(total);
  for (size_t i = 0; i < ids.size(); ++i) {
    Node& n = nodes_[node_of[i]];
    if (n.test == Mode::kLeaf) votes_[n.last++] = {ids[i], weights[i]};
  }
}

void Forest::read_sets(const OpContext& c) {
  members_ = attr_tensor_numbers(c, "membership_values");
  size_t at = 0;
  for (Node& n : nodes_) {
    if (n.test != Mode::kMember) continue;
    c.check(at < members_.size(), "attribute 'membership_values' has too few sets");
    const auto from = members_.begin() + static_cast<std::ptrdiff_t>(at);
    n.first = at;
    n.last = static_cast<size_t>(std::find_if(from, members_.end(), [](double x) { return x != x; }) -
                                 members_.begin());
    at = n.last + 1;
  }
  c.check(at >= members_.size(), "attribute 'membership_values' has more sets than there are such branches");
}

Forest Forest::from_branches_and_leaves(const OpContext& c, int64_t targets) {
  Forest forest;
  const Ints modes = c.attr_tensor("nodes_modes").to_int64();
  const Numbers thresholds = attr_tensor_numbers(c, "nodes_splits"),
                weights = attr_tensor_numbers(c, "leaf_weights");
  const size_t branches = modes.size(), leaves = weights.size();
  check_length(c, "nodes_splits", thresholds.size(), branches);
  const Ints features = ints_of_length(c, "nodes_featureids", branches),
             missing = missing_tracks(c, branches);
  const Ints vote_targets = ints_of_length(c, "leaf_targetids", leaves);
  // Leaves follow the branches.
  const auto children = [&](const char* ids, const char* leafs) {
    Ints list = ints_of_length(c, ids, branches);
    const Ints is_leaf = ints_of_length(c, leafs, branches);
    for (size_t i = 0; i < branches; ++i) {
      const size_t limit = is_leaf[i] != 0 ? leaves : branches;
      c.check(list[i] >= 0 && list[i] < static_cast<int64_t>(limit),
              "attribute '{}' has the entry {}, but there are {} {}", ids, list[i], limit,
              is_leaf[i] != 0 ? "leaves" : "nodes");
      if (is_leaf[i] != 0) list[i] += static_cast<int64_t>(branches);
    }
    return list;
  };
  const Ints yes = children("nodes_truenodeids", "nodes_trueleafs");
  const Ints no = children("nodes_falsenodeids", "nodes_falseleafs");
  for (size_t i = 0; i < branches; ++i) {
    c.check(modes[i] >= 0 && modes[i] <= kLastMode, "attribute 'nodes_modes' has the entry {}", modes[i]);
    Node n{.test = static_cast<Mode>(modes[i]), .missing_is_true = missing[i] != 0, .feature = features[i]};
    n.threshold = thresholds[i];
    n.when_true = static_cast<size_t>(yes[i]);
    n.when_false = static_cast<size_t>(no[i]);
    forest.nodes_.push_back(n);
  }
  forest.read_sets(c);
  for (size_t i = 0; i < leaves; ++i) {
    check_target(c, vote_targets[i], targets);
    forest.nodes_.push_back({.first = i, .last = i + 1});
    forest.votes_.push_back({vote_targets[i], weights[i]});
  }
  for (const int64_t root : c.attr_ints("tree_roots")) {
    c.check(root >= 0 && root < static_cast<int64_t>(branches),
            "attribute 'tree_roots' has the entry {}, but there are {} nodes", root, branches);
    forest.roots_.push_back(static_cast<size_t>(root));
  }
  c.check(!forest.roots_.empty(), "attribute 'tree_roots' is empty");
  return forest;
}

}  // namespace assay
