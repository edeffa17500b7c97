#include "debug/minimal_subset.h"

#include <algorithm>
#include <map>

namespace assay::debug {
namespace {

using Set = std::vector<size_t>;

class Minimizer {
 public:
  explicit Minimizer(const SubsetSearch& search) : search_(search) {}

  Set run(Set current) {
    size_t parts = 2;
    while (current.size() >= 2) {
      parts = std::min(parts, current.size());
      const std::vector<Set> chunks = split(current, parts);
      if (const Set* chunk = first_failing(chunks)) {
        current = Set(*chunk);
        parts = 2;
      } else if (const Set rest = first_failing_rest(current, chunks); !rest.empty()) {
        current = rest;
        parts = std::max<size_t>(parts - 1, 2);
      } else if (parts < current.size()) {
        parts *= 2;
      } else {
        break;
      }
    }
    return current;
  }

 private:
  bool fails(const Set& set) {
    const auto [it, is_new] = answers_.try_emplace(set, false);
    if (is_new) it->second = search_.fails(set);
    return it->second;
  }

  const Set* first_failing(const std::vector<Set>& chunks) {
    const auto it = std::find_if(chunks.begin(), chunks.end(), [&](const Set& c) { return fails(c); });
    return it == chunks.end() ? nullptr : &*it;
  }

  /// All but one chunk; empty where none fails. Of two chunks the rest of one is the other.
  Set first_failing_rest(const Set& current, const std::vector<Set>& chunks) {
    if (chunks.size() <= 2) return {};
    for (const Set& chunk : chunks) {
      Set rest;
      std::set_difference(current.begin(), current.end(), chunk.begin(), chunk.end(),
                          std::back_inserter(rest));
      if (fails(rest)) return rest;
    }
    return {};
  }

  /// Where the list is cut instead of before element `at`, within a window around it.
  size_t best_cut(const Set& set, size_t at, size_t window) const {
    if (search_.cut_costs.empty()) return at;
    size_t best = at;
    const size_t first = at > window ? at - window : 1, last = std::min(at + window, set.size() - 1);
    for (size_t i = std::max<size_t>(first, 1); i <= last; ++i) {
      const size_t cost = search_.cut_costs[set[i]], least = search_.cut_costs[set[best]];
      const size_t distance = i > at ? i - at : at - i, nearest = best > at ? best - at : at - best;
      if (cost < least || (cost == least && distance < nearest)) best = i;
    }
    return best;
  }

  std::vector<Set> split(const Set& set, size_t parts) const {
    std::vector<size_t> ends = {0};
    // A part may be a third longer or shorter than the others.
    const size_t window = set.size() / parts / 6;
    for (size_t i = 1; i < parts; ++i)
      ends.push_back(std::max(ends.back() + 1, best_cut(set, set.size() * i / parts, window)));
    ends.push_back(set.size());
    std::vector<Set> chunks;
    for (size_t i = 0; i + 1 < ends.size(); ++i)
      if (ends[i] < ends[i + 1])
        chunks.emplace_back(set.begin() + static_cast<std::ptrdiff_t>(ends[i]),
                            set.begin() + static_cast<std::ptrdiff_t>(ends[i + 1]));
    return chunks;
  }

  const SubsetSearch& search_;
  std::map<Set, bool> answers_;
};

}  // namespace

std::vector<size_t> minimal_subset(size_t count, const SubsetSearch& search) {
  Set all(count);
  for (size_t i = 0; i < count; ++i) all[i] = i;
  return Minimizer(search).run(std::move(all));
}

}  // namespace assay::debug
