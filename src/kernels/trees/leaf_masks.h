// Trees of few leaves without walks: every branch that a row does not take eliminates leaves, and the first
// remaining leaf is the row's (Lucchese and others, QuickScorer, 2015). Eight rows are evaluated together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::kernels {

class LeafMasks {
 public:
  /// Leaves of a tree, and rows of a block.
  static constexpr int64_t kMaxLeaves = 64, kRows = 8;

  /// A branch: x <= threshold keeps all leaves, otherwise those that `kept` has. With NaN for a threshold no
  /// x is below.
  struct Branch {
    uint32_t feature = 0, tree = 0;
    double threshold = 0;
    uint64_t kept = 0;
  };

  LeafMasks() = default;
  /// The branches of one tree after those of another, in the order of the trees.
  LeafMasks(std::span<const Branch> branches, int64_t trees);

  int64_t trees() const { return std::max<int64_t>(static_cast<int64_t>(first_.size()) - 1, 0); }
  /// left[tree * kRows + r]: the leaves that row r keeps, one bit each, never none. The rows are at x + r *
  /// stride for r below `count`; there is no NaN among their features. `columns` is scratch memory
  /// for the features of all branches, kRows each.
  template <typename T>
  void strike_out(const T* x, int64_t stride, int64_t count, double* columns, uint64_t* left) const noexcept;
  /// Numbers that `columns` needs room for.
  int64_t column_numbers() const { return static_cast<int64_t>(features_.size()) * kRows; }

 private:
  std::vector<uint32_t> features_;  ///< those that a branch compares, ascending
  std::vector<uint32_t> first_;     ///< branch of each tree, and their number; empty: no trees
  // Of each branch:
  std::vector<uint32_t> columns_;  ///< where the rows' features begin among `columns`
  std::vector<double> thresholds_;
  std::vector<uint64_t> kept_;
};

}  // namespace assay::kernels
