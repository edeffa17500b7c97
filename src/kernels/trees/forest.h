// Ensembles of decision trees, laid out for many interleaved walks: of several rows, or several trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/trees/leaf_masks.h"

namespace assay::kernels {

/// How a branch decides, or that it is a leaf; numbered as ONNX's TreeEnsemble.
enum class TreeTest : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };

/// A branch or leaf of a forest as it is given.
struct TreeNode {
  TreeTest test = TreeTest::kLeaf;
  bool missing_is_true = false;  ///< NaN takes the true branch; else the comparison decides
  int64_t feature = 0;
  double threshold = 0;
  size_t when_true = 0, when_false = 0;  ///< nodes
  size_t first = 0, last = 0;            ///< of a leaf's votes, or of the set's members
};

/// A leaf's contribution to a target.
struct TreeVote {
  int64_t target;
  double weight;
};

/// How the votes of all trees for a target become one number; numbered as TreeEnsemble's attribute.
enum class TreeAggregate : uint8_t { kAverage, kSum, kMin, kMax };

/// A forest as it is given: nodes in any order, the root of each tree.
struct ForestSource {
  std::span<const TreeNode> nodes;
  std::span<const size_t> roots;
  std::span<const TreeVote> votes;
  std::span<const double> members;
};

/// A forest for rows of T, float or double. Every comparison has the outcome that it has in float64.
template <typename T>
class CompiledForest {
 public:
  /// Every node must be within the source, and every target be nonnegative. None when branches are shared so
  /// often that the trees would be more than twice as large as the source says, or never end.
  static std::optional<CompiledForest> compile(const ForestSource& source);

  size_t tree_count() const { return roots_.size(); }
  /// Branches on the longest way to a leaf.
  int64_t depth() const { return depth_; }
  /// Features that rows must have.
  int64_t features() const { return features_; }

  /// scores[r * targets + t]: the trees' votes for target t, for rows x[r * features + f], added in the order
  /// of the trees; a target without votes gets 0. `targets` is above every vote's.
  void vote(const T* x, int64_t rows, int64_t features, TreeAggregate aggregate, int64_t targets,
            double* scores) const noexcept;
  /// The same for one row, whose trees are distributed among threads. `leaves`: room for tree_count().
  void vote_in_parallel(const T* x, TreeAggregate aggregate, int64_t targets, double* scores,
                        std::span<uint32_t> leaves) const noexcept;

 private:
  /// The left child is nodes_[left], the right one nodes_[left + 1]. A leaf is its own left child, whatever x
  /// is.
  struct Branch {
    T threshold;
    uint32_t left;
    uint32_t feature;  ///< and kMissingLeft
  };
  enum class Kind : uint8_t { kLeq, kEq, kMember };
  struct Vote {
    uint32_t target;
    double weight;
  };
  static constexpr uint32_t kMissingLeft = 1U << 31;
  /// Interleaved walks.
  static constexpr int kLanes = 8;

  bool grow(const ForestSource& source, size_t root);
  void set_leaf(const ForestSource& source, const TreeNode& from, uint32_t at);
  void set_branch(const ForestSource& source, const TreeNode& from, uint32_t at);
  bool goes_left(uint32_t at, const Branch& n, T x) const noexcept;
  void keep_weights();
  void make_masks();
  bool find_leaves(uint32_t at, int64_t depth, std::vector<LeafMasks::Branch>& branches, uint64_t& leaves);
  bool vote_by_masks(const T* x, int64_t stride, int64_t rows, TreeAggregate aggregate, int64_t targets,
                     void* scratch, double* scores) const noexcept;
  size_t mask_bytes() const;
  void walk(uint32_t* at, const T* const* x, const bool* is_numbers) const noexcept;
  template <bool kMayBeMissing, int... kLane>
  void step_down(uint32_t* at, const T* const* x, std::integer_sequence<int, kLane...>) const noexcept;
  void walk_rows(const T* x, int64_t first, int64_t last, int64_t stride, const bool* numbers,
                 TreeAggregate aggregate, int64_t targets, double* scores) const noexcept;
  void walk_trees(const T* x, size_t first, size_t last, uint32_t* leaves) const noexcept;
  void add(uint32_t leaf, TreeAggregate aggregate, double* scores) const noexcept;
  void finish(TreeAggregate aggregate, int64_t targets, double* scores) const noexcept;
  static void start(TreeAggregate aggregate, int64_t targets, double* scores) noexcept;

  std::vector<Branch> nodes_;
  std::vector<uint32_t> roots_;
  std::vector<uint32_t> first_vote_, vote_count_;  ///< of each node
  std::vector<Vote> votes_;
  std::vector<double> weights_;  ///< of each leaf's only vote; empty where leaves have others
  // Only where a branch is not a comparison of order.
  std::vector<Kind> kinds_;
  std::vector<std::pair<uint32_t, uint32_t>> sets_;  ///< of each node, in members_
  std::vector<double> members_;
  // Where all trees have few leaves and only comparisons of order; else without trees.
  LeafMasks masks_;
  std::vector<uint32_t> mask_leaves_, first_mask_leaf_;  ///< nodes of the leaves, and where a tree's begin
  std::vector<double> mask_weights_;                     ///< weights_ of the leaves in mask_leaves_
  int64_t depth_ = 0, features_ = 0;
};

}  // namespace assay::kernels
