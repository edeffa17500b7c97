// Chooses one alternative for each of many decisions so that the sum of their costs, and of the costs between
// neighbouring decisions, is small: partitioned Boolean quadratic programming (Scholz and Eckstein, "Register
// allocation for irregular architectures", 2002).
#pragma once

#include <cstddef>
#include <vector>

namespace assay::engine {

/// Decisions and alternatives are identified by number.
class Assignment {
 public:
  /// A decision with the cost of each alternative, of which there is at least one. Returns its number.
  size_t add(std::vector<double> costs);
  /// Adds costs between two different decisions: `costs[i * n + k]` when `a` takes its alternative i and `b`
  /// its k of n. Called again for the same pair, costs add up.
  void connect(size_t a, size_t b, const std::vector<double>& costs);

  /// The chosen alternative of every decision. Minimum cost if the decisions form a tree or a series-parallel
  /// network (such as a chain with residual connections); otherwise decisions with most neighbours are made
  /// greedily. Equal costs: the lower number. Linear time in decisions and connections if the number of
  /// neighbours is bounded.
  std::vector<size_t> solve() const;
  /// The cost of a choice.
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
