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

  enum class Stage : uint8_t {
    kGuess,    ///< as if one element were to blame
    kEnds,     ///< the first and the last element that are needed
    kParts,    ///< those between them
    kSingles,  ///< one after the other is left out
  };
  /// Where a search is: everything that comes depends on this and on answers.
  struct Place {
    Set current;
    Stage stage = Stage::kGuess;
    Set ends = {};  ///< under kParts: the two that are around `current`; it fails with them
    size_t parts = 2;
  };

  /// False at the end.
  bool step(Place& at, const Oracle& fails) const {
    if (at.current.size() + at.ends.size() < 2) return false;
    switch (at.stage) {
      case Stage::kGuess:
        at = {.current = guess(at.current, fails), .stage = Stage::kEnds};
        return true;
      case Stage::kEnds:
        at = find_ends(at.current, fails);
        return true;
      case Stage::kParts:
        search_between(at, fails);
        return true;
      case Stage::kSingles:
        return leave_one_out(at.current, fails);
    }
    return false;
  }

  /// Halves: of the first one is asked, and if it passes, the other is taken to fail. What is left in the end
  /// is asked about; where it passes, the smallest half on the way to it that fails.
  Set guess(Set all, const Oracle& fails) const {
    std::vector<Set> path = {std::move(all)};
    while (path.back().size() > 1) {
      std::vector<Set> halves = split(path.back(), 2);
      if (fails(halves[0]))
        path = {std::move(halves[0])};
      else
        path.push_back(std::move(halves[1]));
    }
    if (path.size() == 1 || fails(path.back())) return std::move(path.back());
    const size_t failing = last_true(0, path.size() - 1, [&](size_t i) { return fails(path[i]); });
    return std::move(path[failing]);
  }

  /// Between `yes`, where it holds, and `no`, where it does not, a place where it holds, and not at the next.
  template <typename Holds>
  static size_t last_true(size_t yes, size_t no, Holds&& holds) {
    while (no - yes > 1) {
      const size_t middle = (yes + no) / 2;
      (holds(middle) ? yes : no) = middle;
    }
    return yes;
  }

  /// Leaves out what comes behind the last element that is needed, then what comes before the first.
  static Place find_ends(const Set& all, const Oracle& fails) {
    const auto without_last = [&](size_t n) {
      return Set(all.begin(), all.end() - static_cast<ptrdiff_t>(n));
    };
    const Set head = without_last(last_true(0, all.size(), [&](size_t n) { return fails(without_last(n)); }));
    const Set last = {head.back()};
    if (fails(last)) return {.current = last, .stage = Stage::kSingles};
    const auto without_first = [&](size_t n) {
      return Set(head.begin() + static_cast<ptrdiff_t>(n), head.end());
    };
    const Set part =
        without_first(last_true(0, head.size() - 1, [&](size_t n) { return fails(without_first(n)); }));
    const Set ends = {part.front(), part.back()};
    if (part.size() == 2 || fails(ends)) return {.current = ends, .stage = Stage::kSingles};
    return {.current = Set(part.begin() + 1, part.end() - 1), .stage = Stage::kParts, .ends = ends};
  }

  /// A step of ddmin.
  void search_between(Place& at, const Oracle& fails_alone) const {
    const Oracle fails = [&](const Set& set) { return fails_alone(with_ends(at.ends, set)); };
    at.parts = std::min(at.parts, at.current.size());
    const std::vector<Set> chunks = split(at.current, at.parts);
    if (const Set* chunk = at.parts > 1 ? first_failing(chunks, fails) : nullptr) {
      at.current = Set(*chunk);
      at.parts = 2;
    } else if (Set rest = first_failing_rest(at.current, chunks, fails); !rest.empty()) {
      at.current = std::move(rest);
      at.parts = std::max<size_t>(at.parts - 1, 2);
    } else if (at.parts < at.current.size()) {
      at.parts *= 2;
    } else {
      at = {.current = with_ends(at.ends, at.current), .stage = Stage::kSingles};
    }
  }

  static Set with_ends(const Set& ends, const Set& between) {
    Set set = {ends.front()};
    set.insert(set.end(), between.begin(), between.end());
    set.push_back(ends.back());
    return set;
  }

  /// False where each is needed.
  static bool leave_one_out(Set& current, const Oracle& fails) {
    for (const size_t element : current) {
      Set rest;
      std::remove_copy(current.begin(), current.end(), std::back_inserter(rest), element);
      if (!fails(rest)) continue;
      current = std::move(rest);
      return true;
    }
    return false;
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
