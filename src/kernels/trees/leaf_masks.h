// Trees of few leaves without walks: every branch that a row does not take strikes out leaves, and the first
// leaf that is left is the row's (Lucchese and others, QuickScorer, 2015). Eight rows are looked at together.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::kernels {

class LeafMasks {
 public:
  /// Leaves of a tree, and rows of a block.
  static constexpr int64_t kMostLeaves = 64, kRows = 8;

  /// A branch: x <= threshold keeps all leaves, otherwise those that `kept` has. With NaN for a threshold no
  /// x is below.
  struct Branch {
    uint32_t feature = 0, tree = 0;
    double threshold = 0;
    uint64_t kept = 0;
  };

  LeafMasks() = default;
  LeafMasks(std::vector<Branch> branches, int64_t trees);

  int64_t trees() const { return static_cast<int64_t>(begin_.size()); }
  /// left[tree * kRows + r]: the leaves that row r keeps, one bit each, never none. The rows lie at
  /// x + r * stride for r below `count`; there is no NaN among their features. `columns` is scratch memory
  /// for the features of all branches, kRows each.
  template <typename T>
  void strike_out(const T* x, int64_t stride, int64_t count, double* columns, uint64_t* left) const noexcept;
  /// Numbers that `columns` needs room for.
  int64_t column_numbers() const { return static_cast<int64_t>(features_.size()) * kRows; }

 private:
  /// Branches on one feature: [first, last) below, by rising thresholds.
  struct Feature {
    uint32_t feature;
    uint32_t first, last;
  };
  void strike(const double* columns, uint64_t* left) const noexcept;

  std::vector<Feature> features_;
  std::vector<double> thresholds_;
  std::vector<uint32_t> trees_;
  std::vector<uint64_t> kept_;
  std::vector<uint64_t> begin_;  ///< what is left of each tree before any comparison
};

}  // namespace assay::kernels
