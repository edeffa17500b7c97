#include "engine/planner/assignment.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace assay::engine {
namespace {

using Row = std::vector<double>;

size_t least(const Row& costs) {
  return static_cast<size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

/// The network while decisions are taken out of it, one after the other; they are settled in the opposite
/// order.
class Reduction {
 public:
  explicit Reduction(std::vector<Row> costs) : costs_(std::move(costs)), neighbours_(costs_.size()) {}

  void connect(size_t a, size_t b, const Row& costs) {
    Row& ab = neighbours_[a][b];
    Row& ba = neighbours_[b][a];
    const size_t rows = costs_[a].size(), columns = costs_[b].size();
    if (ab.empty()) {
      ab.resize(rows * columns);
      ba.resize(rows * columns);
    }
    for (size_t i = 0; i < rows; ++i)
      for (size_t k = 0; k < columns; ++k) {
        ab[i * columns + k] += costs[i * columns + k];
        ba[k * rows + i] += costs[i * columns + k];
      }
  }

  std::vector<size_t> solve() {
    // Decisions by the number of their neighbours; a larger number means that it was queued before others
    // were taken out.
    for (size_t n = 0; n < costs_.size(); ++n) queue(n);
    while (take_next()) {
    }
    std::vector<size_t> choice(costs_.size());
    for (auto it = removed_.rbegin(); it != removed_.rend(); ++it) {
      const size_t n = it->node;
      Row total = costs_[n];
      for (const auto& [other, between] : it->neighbours) {
        const size_t columns = costs_[other].size();
        for (size_t i = 0; i < total.size(); ++i) total[i] += between[i * columns + choice[other]];
      }
      choice[n] = least(total);
    }
    return choice;
  }

 private:
  struct Removed {
    size_t node;
    std::map<size_t, Row> neighbours;
  };
  static constexpr size_t kMany = 3;

  void queue(size_t n) { waiting_[std::min(neighbours_[n].size(), kMany)].push_back(n); }

  bool take_next() {
    for (size_t degree = 0; degree <= kMany; ++degree) {
      std::vector<size_t>& list = waiting_[degree];
      while (heads_[degree] < list.size()) {
        const size_t n = list[heads_[degree]++];
        const bool current = !gone(n) && std::min(neighbours_[n].size(), kMany) == degree;
        if (!current) continue;
        if (degree == 0) remove(n);
        if (degree == 1) fold_one(n);
        if (degree == 2) fold_two(n);
        if (degree == kMany) settle(n);
        return true;
      }
    }
    return false;
  }

  bool gone(size_t n) const { return n < is_gone_.size() && is_gone_[n]; }

  /// Takes a decision out; it is settled once its neighbours are.
  std::map<size_t, Row> remove(size_t n) {
    is_gone_.resize(costs_.size(), false);
    is_gone_[n] = true;
    std::map<size_t, Row> around = std::move(neighbours_[n]);
    neighbours_[n].clear();
    for (const auto& entry : around) {
      neighbours_[entry.first].erase(n);
      queue(entry.first);
    }
    removed_.push_back({n, around});
    return around;
  }

  /// What the best alternative costs goes to the only neighbour.
  void fold_one(size_t n) {
    const auto around = remove(n);
    const auto& [other, between] = *around.begin();
    const size_t columns = costs_[other].size();
    for (size_t k = 0; k < columns; ++k) {
      Row total = costs_[n];
      for (size_t i = 0; i < total.size(); ++i) total[i] += between[i * columns + k];
      costs_[other][k] += total[least(total)];
    }
  }

  /// What the best alternative costs lies between the two neighbours.
  void fold_two(size_t n) {
    const auto around = remove(n);
    const auto& [a, to_a] = *around.begin();
    const auto& [b, to_b] = *around.rbegin();
    const size_t rows = costs_[a].size(), columns = costs_[b].size();
    Row between(rows * columns);
    for (size_t j = 0; j < rows; ++j)
      for (size_t k = 0; k < columns; ++k) {
        Row total = costs_[n];
        for (size_t i = 0; i < total.size(); ++i) total[i] += to_a[i * rows + j] + to_b[i * columns + k];
        between[j * columns + k] = total[least(total)];
      }
    connect(a, b, between);
    queue(a);
    queue(b);
  }

  /// With many neighbours: the alternative that is best when each of them does its best.
  void settle(size_t n) {
    Row total = costs_[n];
    for (const auto& [other, between] : neighbours_[n]) {
      const size_t columns = costs_[other].size();
      for (size_t i = 0; i < total.size(); ++i) {
        double best = between[i * columns] + costs_[other][0];
        for (size_t k = 1; k < columns; ++k)
          best = std::min(best, between[i * columns + k] + costs_[other][k]);
        total[i] += best;
      }
    }
    const size_t chosen = least(total);
    const auto around = remove(n);
    for (const auto& [other, between] : around) {
      const size_t columns = costs_[other].size();
      for (size_t k = 0; k < columns; ++k) costs_[other][k] += between[chosen * columns + k];
    }
    // Nothing else is left for it to choose.
    for (size_t i = 0; i < costs_[n].size(); ++i)
      if (i != chosen) costs_[n][i] = std::numeric_limits<double>::infinity();
    removed_.back().neighbours.clear();
  }

  std::vector<Row> costs_;
  std::vector<std::map<size_t, Row>> neighbours_;
  std::vector<bool> is_gone_;
  std::vector<size_t> waiting_[kMany + 1];
  size_t heads_[kMany + 1] = {};
  std::vector<Removed> removed_;
};

}  // namespace

size_t Assignment::add(std::vector<double> costs) {
  costs_.push_back(std::move(costs));
  return costs_.size() - 1;
}

void Assignment::connect(size_t a, size_t b, const std::vector<double>& costs) {
  if (a < b) {
    edges_.push_back({a, b, costs});
    return;
  }
  const size_t rows = costs_[a].size(), columns = costs_[b].size();
  std::vector<double> turned(costs.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t k = 0; k < columns; ++k) turned[k * rows + i] = costs[i * columns + k];
  edges_.push_back({b, a, std::move(turned)});
}

std::vector<size_t> Assignment::solve() const {
  Reduction reduction(costs_);
  for (const Edge& e : edges_) reduction.connect(e.a, e.b, e.costs);
  return reduction.solve();
}

double Assignment::cost_of(const std::vector<size_t>& choice) const {
  double sum = 0;
  for (size_t n = 0; n < costs_.size(); ++n) sum += costs_[n][choice[n]];
  for (const Edge& e : edges_) sum += e.costs[choice[e.a] * costs_[e.b].size() + choice[e.b]];
  return sum;
}

}  // namespace assay::engine
