// Decision trees: shared by TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/trees/forest.h"
#include "ops/numerics/running_error.h"
#include "ops/op_context.h"

namespace assay {

using Aggregate = kernels::TreeAggregate;

/// Trees of branches that compare a feature with a threshold, and of leaves that vote for targets.
class Forest {
 public:
  class NodeIndex;

  /// From the attributes of the two older operators: nodes_*, and votes in {prefix}_treeids,
  /// {prefix}_nodeids, {prefix}_ids and {prefix}_weights. A tree's root is its first listed node; votes of
  /// branches are ignored, as ONNX Runtime does. Throws Error when lengths differ, or when a node is listed
  /// twice, refers to one that is missing, or votes for a target outside [0, targets).
  static Forest from_node_lists(const OpContext& c, std::string_view prefix, int64_t targets);
  /// From TreeEnsemble's attributes. Throws Error likewise.
  static Forest from_branches_and_leaves(const OpContext& c, int64_t targets);

  size_t tree_count() const { return roots_.size(); }
  /// Of a row's votes, in multiplications, roughly.
  int64_t cost() const { return static_cast<int64_t>(tree_count()) * 16; }
  /// Throws Error when a branch compares a feature that inputs of `count` features do not have.
  void check_features(const OpContext& c, int64_t count) const;
  /// True when no vote is negative.
  bool votes_are_positive() const;

  /// The votes for each target, for one row of features; a target without votes gets 0. A missing feature
  /// (NaN) takes the true branch where nodes_missing_value_tracks_true says so; else the comparison decides,
  /// which is true for BRANCH_NEQ only. N is double or Rounded. Throws Error (kInvalidModel) when a path
  /// never ends.
  template <typename N>
  void vote(const double* x, Aggregate aggregate, std::span<N> targets) const;

  /// For kernels.
  kernels::ForestSource source() const { return {nodes_, roots_, votes_, members_}; }

 private:
  using Mode = kernels::TreeTest;
  using Node = kernels::TreeNode;
  using Vote = kernels::TreeVote;
  static constexpr int64_t kLastMode = 6;

  static Mode read_mode(const OpContext& c, const std::string& name);
  bool is_true(const Node& n, double x) const;
  const Node& leaf_of(size_t root, const double* x) const;
  void read_votes(const OpContext& c, const std::string& prefix, int64_t targets, const NodeIndex& index);
  void read_sets(const OpContext& c);

  std::vector<Node> nodes_;
  std::vector<size_t> roots_;
  std::vector<Vote> votes_;
  std::vector<double> members_;
};

/// The numbers of a float attribute: `name`, or `name`_as_tensor where the operator's version has that and it
/// is given. Throws Error when both are.
std::vector<double> attr_numbers(const OpContext& c, const std::string& name);
/// The numbers of a tensor attribute, none when it is left out.
std::vector<double> attr_tensor_numbers(const OpContext& c, std::string_view name);

}  // namespace assay
