#include "debug/minimal_subset.h"

#include <algorithm>
#include <map>
#include <optional>

namespace assay::debug {
namespace {

using Set = std::vector<size_t>;

/// An answer of which nothing is known.
struct Unknown {
  Set set;
};

class Minimizer {
 public:
  explicit Minimizer(const SubsetSearch& search) : search_(search) {}

  Set run(Set all) {
    at_ = {.current = std::move(all)};
    const auto asked = [&](const Set& set) { return fails(set); };
    while (step(at_, asked)) {
    }
    return std::move(at_.current);
  }

 private:
  using Answers = std::map<Set, bool>;
  using Oracle = std::function<bool(const Set& set)>;

  /// Where a search is: everything that comes depends on this and on answers.
  struct Place {
    Set current;
    size_t parts = 2;
  };

  /// False at the end.
  bool step(Place& at, const Oracle& fails) const {
    if (at.current.size() < 2) return false;
    at.parts = std::min(at.parts, at.current.size());
    const std::vector<Set> chunks = split(at.current, at.parts);
    if (const Set* chunk = first_failing(chunks, fails)) {
      at = {.current = Set(*chunk)};
    } else if (Set rest = first_failing_rest(at.current, chunks, fails); !rest.empty()) {
      at = {.current = std::move(rest), .parts = std::max<size_t>(at.parts - 1, 2)};
    } else if (at.parts < at.current.size()) {
      at.parts *= 2;
    } else {
      return false;
    }
    return true;
  }

  bool fails(const Set& set) {
    const auto it = answers_.find(set);
    if (it != answers_.end()) return it->second;
    if (search_.expect && search_.foresight > 1) search_.expect(likely_questions());
    return answers_[set] = search_.fails(set);
  }

  /// The next questions, by the answers that lead to them: a part is more likely to pass than to fail.
  std::vector<Set> likely_questions() const {
    constexpr double kPasses = 0.65;
    struct Future {
      double chance;
      Answers assumed;
    };
    const auto is_less = [](const Future& a, const Future& b) { return a.chance < b.chance; };
    std::vector<Future> futures = {{1, {}}};  // a heap
    std::vector<Set> questions;
    for (size_t tried = 0;
         !futures.empty() && questions.size() < search_.foresight && tried < 8 * search_.foresight; ++tried) {
      std::pop_heap(futures.begin(), futures.end(), is_less);
      const Future future = std::move(futures.back());
      futures.pop_back();
      const std::optional<Set> question = question_of(future.assumed);
      if (!question) continue;
      if (std::find(questions.begin(), questions.end(), *question) == questions.end())
        questions.push_back(*question);
      for (const bool does_fail : {false, true}) {
        Future next = future;
        next.chance *= does_fail ? 1 - kPasses : kPasses;
        next.assumed[*question] = does_fail;
        futures.push_back(std::move(next));
        std::push_heap(futures.begin(), futures.end(), is_less);
      }
    }
    return questions;
  }

  /// The first one that neither these answers nor the known ones decide; nothing where the search ends.
  std::optional<Set> question_of(const Answers& assumed) const {
    const auto decide = [&](const Set& set) {
      if (const auto it = answers_.find(set); it != answers_.end()) return it->second;
      if (const auto it = assumed.find(set); it != assumed.end()) return it->second;
      throw Unknown{set};
    };
    Place at = at_;
    try {
      while (step(at, decide)) {
      }
    } catch (Unknown& unknown) {
      return std::move(unknown.set);
    }
    return std::nullopt;
  }

  static const Set* first_failing(const std::vector<Set>& chunks, const Oracle& fails) {
    const auto it = std::find_if(chunks.begin(), chunks.end(), fails);
    return it == chunks.end() ? nullptr : &*it;
  }

  /// All but one chunk; empty where none fails. Of two chunks the rest of one is the other.
  static Set first_failing_rest(const Set& current, const std::vector<Set>& chunks, const Oracle& fails) {
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
  Place at_;
  Answers answers_;
};

}  // namespace

std::vector<size_t> minimal_subset(size_t count, const SubsetSearch& search) {
  Set all(count);
  for (size_t i = 0; i < count; ++i) all[i] = i;
  return Minimizer(search).run(std::move(all));
}

}  // namespace assay::debug
