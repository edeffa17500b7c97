// Chooses one alternative for each of many decisions so that the sum of their costs, and of the costs between
// neighbouring decisions, is small: partitioned Boolean quadratic programming (Scholz and Eckstein, "Register
// allocation for irregular architectures", 2002).
#pragma once

#include <cstddef>
#include <vector>

namespace assay::engine {

/// A decision is known by its number; its alternatives by theirs.
class Assignment {
 public:
  /// A decision with the cost of each alternative, of which there is at least one. Returns its number.
  size_t add(std::vector<double> costs);
  /// Adds costs between two different decisions: `costs[i * n + k]` when `a` takes its alternative i and `b`
  /// its k of n. Called again for the same pair, costs add up.
  void connect(size_t a, size_t b, const std::vector<double>& costs);

  /// The chosen alternative of every decision. The least cost where the decisions form a tree or a
  /// series-parallel network (a chain with residual connections, say); elsewhere the decisions with most
  /// neighbours are taken greedily. Equal costs: the lower number. Time grows linearly with decisions and
  /// connections where the number of neighbours is bounded.
  std::vector<size_t> solve() const;
  /// What a choice costs.
  double cost_of(const std::vector<size_t>& choice) const;

 private:
  struct Edge {
    size_t a, b;  ///< a < b
    std::vector<double> costs;
  };
  std::vector<std::vector<double>> costs_;
  std::vector<Edge> edges_;
};

}  // namespace assay::engine
