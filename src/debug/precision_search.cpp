#include "debug/precision_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "assay/error.h"
#include "debug/halvings.h"
#include "debug/ranges.h"

namespace assay::debug {
namespace {

using Set = std::vector<size_t>;

/// So many parts of the network are measured at most.
constexpr size_t kMostMeasured = 64;
/// An error that is not finite counts as so much.
constexpr double kMostExcess = 1e30;
/// So many held layers are tried to be made fewer one by one.
constexpr size_t kMostMinimized = 24;

class PrecisionSearch {
 public:
  PrecisionSearch(EngineSearch& search, const PrecisionOptions& options, SearchObserver& observer)
      : search_(search), options_(options), observer_(observer) {
    PrecisionLayers found = lowerable_layers(search.model(), options.lowered, search.config().layer_types);
    result_.layers = std::move(found.layers);
    result_.not_alone = std::move(found.not_alone);
    for (const PrecisionLayer& layer : result_.layers)
      if (!layer.body.empty() && std::find(bodies_.begin(), bodies_.end(), layer.body) == bodies_.end())
        bodies_.push_back(layer.body);
    require(!result_.layers.empty(), ErrorCode::kInvalidArgument,
            "the model has no layer that could be computed in {}", dtype_name(options.lowered));
    for (const auto& n : search.model().graph->nodes())
      if (n->domain.empty()) ++nodes_by_op_[n->op_type];
  }

  PrecisionResult run() {
    observer_.begin_stage("the ends");
    result_.all_lowered = measure({});
    if (!options_.goal.is_met(result_.all_lowered)) {
      result_.none_lowered = measure(everything());
      refuse_unreachable();
      find_sensitivities();
      const Set fewest = fewest_most_sensitive();
      result_.answer.held = without_needless(fewest);
    }
    time_answer();
    time_points();
    return std::move(result_);
  }

 private:
  size_t count() const { return result_.layers.size(); }
  Set everything() const {
    Set all(count());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }

  /// What asks for the layers to be held. Operators all of whose nodes are held go by their operator.
  std::vector<LayerTypes> wishes(const Set& held) const {
    std::vector<LayerTypes> types;
    // Where products are quantized, all others stay as they are.
    if (options_.lowered != DType::kInt8) types.push_back({.layers = "*", .precision = options_.lowered});
    for (const std::string& body : bodies_)
      types.push_back({.layers = body + "::*", .precision = options_.lowered});
    std::map<std::string, size_t> held_by_op;
    for (const size_t i : held)
      if (result_.layers[i].body.empty()) ++held_by_op[result_.layers[i].op_type];
    const auto is_whole = [&](const std::string& op) {
      const auto it = nodes_by_op_.find(op);
      return it != nodes_by_op_.end() && it->second > 1 && held_by_op[op] == it->second;
    };
    for (const auto& [op, number] : held_by_op)
      if (is_whole(op)) types.push_back({.layers = "op:" + op, .precision = DType::kFloat32});
    for (const size_t i : held)
      if (!result_.layers[i].body.empty() || !is_whole(result_.layers[i].op_type))
        types.push_back({.layers = result_.layers[i].name, .precision = DType::kFloat32});
    return types;
  }

  EngineTrial trial(const Set& held, bool is_timed, PrecisionConstraints constraints) const {
    EngineTrial trial;
    trial.is_timed = is_timed;
    trial.question =
        fmt::format("{}{} in float32", is_timed ? "timed: " : "", held.empty() ? "none" : ranges_text(held));
    if (constraints == PrecisionConstraints::kObey) trial.question += ", obeyed";
    trial.change = [this, held, constraints](BuilderConfig& config) {
      std::vector<LayerTypes> types = wishes(held);
      types.insert(types.end(), config.layer_types.begin(), config.layer_types.end());
      config.layer_types = std::move(types);
      config.precision_constraints = constraints;
    };
    return trial;
  }
  Answer ask(const Set& held, bool is_timed, PrecisionConstraints constraints) {
    return search_.ask(trial(held, is_timed, constraints));
  }
  /// The sets to be measured next. Those that are timed run alone.
  void expect(const std::vector<Set>& sets) {
    std::vector<EngineTrial> trials;
    for (const Set& held : sets)
      trials.push_back(trial(held, /*is_timed=*/false, PrecisionConstraints::kPrefer));
    search_.expect(std::move(trials));
  }

  Accuracy measure(const Set& held) {
    const Answer answer = ask(held, /*is_timed=*/false, PrecisionConstraints::kPrefer);
    require(answer.kind != AnswerKind::kDidNotRun, ErrorCode::kInvalidArgument,
            "the engine cannot be built with {} of {} layers in {}: {}", count() - held.size(), count(),
            dtype_name(options_.lowered), answer.failure);
    return Accuracy::from(answer.measures);
  }
  bool is_met_with(const Set& held) { return options_.goal.is_met(measure(held)); }

  void refuse_unreachable() const {
    require(options_.goal.is_met(result_.none_lowered), ErrorCode::kInvalidArgument,
            "not even float32 in all {} layers meets {}: it gives {}", count(), options_.goal.str(),
            result_.none_lowered.str());
  }

  /// Layers that were lowered together, and no others.
  struct Part {
    Set layers;
    double excess = 0;
    double density() const { return excess / static_cast<double>(layers.size()); }
  };

  /// Operators first, since networks repeat themselves; then halves of those parts that have to be held, as
  /// long as parts say it.
  void find_sensitivities() {
    observer_.begin_stage("sensitivities");
    std::vector<Part> parts = by_operator();
    std::vector<Set> sets;
    for (const Part& part : parts) sets.push_back(all_but(part.layers));
    if (parts.size() > 1) expect(sets);
    for (Part& part : parts)
      part.excess = excess_of(parts.size() == 1 ? result_.all_lowered : measure(all_but(part.layers)));
    for (size_t measured = parts.size(); measured < kMostMeasured; measured += 2) {
      const std::optional<size_t> next = part_to_split(parts);
      if (!next) break;
      const Set whole = std::move(parts[*next].layers);
      const auto middle = whole.begin() + static_cast<std::ptrdiff_t>(whole.size() / 2);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(*next));
      const std::vector<Set> halves = {Set(whole.begin(), middle), Set(middle, whole.end())};
      expect({all_but(halves[0]), all_but(halves[1])});
      for (const Set& half : halves) {
        const double excess = excess_of(measure(all_but(half)));
        parts.push_back({half, excess});
      }
    }
    result_.sensitivities.assign(count(), 0);
    for (const Part& part : parts)
      for (const size_t i : part.layers) result_.sensitivities[i] = part.density();
  }

  /// In the order in which they first occur.
  std::vector<Part> by_operator() const {
    std::vector<Part> parts;
    std::map<std::string, size_t> known;
    for (size_t i = 0; i < count(); ++i) {
      const auto [it, is_new] = known.try_emplace(result_.layers[i].op_type, parts.size());
      if (is_new) parts.emplace_back();
      parts[it->second].layers.push_back(i);
    }
    return parts;
  }

  /// Of the parts that would have to be held, the densest first, until the others together do not matter: the
  /// one of several layers that adds most.
  std::optional<size_t> part_to_split(std::vector<Part>& parts) const {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.density() > b.density(); });
    std::vector<double> rest(parts.size() + 1, 0);  // from here on; a difference would lose what is small
    for (size_t i = parts.size(); i-- > 0;) rest[i] = rest[i + 1] + parts[i].excess;
    const double limit = 1 - options_.goal.excess(result_.none_lowered);
    std::optional<size_t> next;
    for (size_t i = 0; i < parts.size() && rest[i] > limit; ++i)
      if (parts[i].layers.size() > 1 && (!next || parts[i].excess > parts[*next].excess)) next = i;
    return next;
  }

  /// Beyond what float32 itself errs.
  double excess_of(const Accuracy& accuracy) const {
    const double excess = options_.goal.excess(accuracy) - options_.goal.excess(result_.none_lowered);
    // What is not finite would leave no difference between parts.
    return std::clamp(excess, 0.0, kMostExcess);
  }

  Set all_but(const Set& lowered) const {
    Set held;
    for (size_t i = 0; i < count(); ++i)
      if (!std::binary_search(lowered.begin(), lowered.end(), i)) held.push_back(i);
    return held;
  }

  /// The most sensitive first; of equal ones the earlier.
  Set by_sensitivity() const {
    Set order = everything();
    if (!result_.sensitivities.empty())
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return result_.sensitivities[a] > result_.sensitivities[b];
      });
    return order;
  }
  Set most_sensitive(size_t number) const {
    Set order = by_sensitivity();
    order.resize(number);
    std::sort(order.begin(), order.end());
    return order;
  }

  Set fewest_most_sensitive() {
    observer_.begin_stage("how many layers");
    size_t bad = 0, good = count();
    while (good - bad > 1) {
      std::vector<Set> sets;
      for (const size_t number : next_middles(bad, good, search_.foresight()))
        sets.push_back(most_sensitive(number));
      expect(sets);
      const size_t middle = (good + bad) / 2;
      (is_met_with(most_sensitive(middle)) ? good : bad) = middle;
    }
    return most_sensitive(good);
  }

  /// One by one, the least sensitive first: sums of errors need not be what the parts have shown.
  Set without_needless(const Set& held) {
    if (held.size() > kMostMinimized) return held;
    observer_.begin_stage("which of them");
    Set order = by_sensitivity(), kept = held;
    order.resize(held.size());
    std::reverse(order.begin(), order.end());
    for (size_t i = 0; i < order.size(); ++i) {
      const auto without = [&](size_t layer) {
        Set rest = kept;
        std::erase(rest, layer);
        return rest;
      };
      std::vector<Set> sets;  // as if all were needed
      for (size_t k = i; k < std::min(order.size(), i + search_.foresight()); ++k)
        sets.push_back(without(order[k]));
      expect(sets);
      const Set rest = without(order[i]);
      if (is_met_with(rest)) kept = rest;
    }
    return kept;
  }

  PrecisionPoint timed(const Set& held, const Answer& answer) const {
    const auto it = answer.measures.find("milliseconds");
    return {.held = held,
            .accuracy = Accuracy::from(answer.measures),
            .milliseconds = it == answer.measures.end() ? 0 : it->second};
  }

  /// With the tactics that timing chooses. Where these round more than the estimates' did, more is held.
  void time_answer() {
    observer_.begin_stage("times");
    Set held = result_.answer.held;
    for (size_t more = 1;; more *= 2) {
      result_.constraints = PrecisionConstraints::kObey;
      Answer answer = ask(held, /*is_timed=*/true, result_.constraints);
      if (answer.kind == AnswerKind::kDidNotRun) {
        result_.constraints = PrecisionConstraints::kPrefer;
        answer = ask(held, /*is_timed=*/true, result_.constraints);
      }
      result_.answer = timed(held, answer);
      if (options_.goal.is_met(result_.answer.accuracy) || held.size() == count()) break;
      held = with_more(held, more);
    }
    result_.types = wishes(held);
  }

  Set with_more(Set held, size_t more) const {
    for (const size_t i : by_sensitivity())
      if (more > 0 && std::find(held.begin(), held.end(), i) == held.end()) held.push_back(i), --more;
    std::sort(held.begin(), held.end());
    return held;
  }

  void time_points() {
    std::vector<Set> sets = {{}, everything()};
    if (!result_.sensitivities.empty())
      for (const size_t number : {count() / 8, count() / 4, count() / 2})
        sets.push_back(most_sensitive(number));
    result_.points.push_back(result_.answer);
    for (const Set& held : sets) {
      const bool is_known =
          std::any_of(result_.points.begin(), result_.points.end(),
                      [&](const PrecisionPoint& p) { return p.held.size() == held.size(); });
      if (is_known) continue;
      const Answer answer = ask(held, /*is_timed=*/true, PrecisionConstraints::kPrefer);
      if (!answer.measures.empty()) result_.points.push_back(timed(held, answer));
    }
    std::sort(result_.points.begin(), result_.points.end(),
              [](const auto& a, const auto& b) { return a.held.size() < b.held.size(); });
    for (PrecisionPoint& p : result_.points) p.is_best = is_best(p);
    result_.answer.is_best = is_best(result_.answer);
  }

  bool is_best(const PrecisionPoint& point) const {
    return std::none_of(result_.points.begin(), result_.points.end(), [&](const PrecisionPoint& other) {
      const double a = options_.goal.excess(other.accuracy), b = options_.goal.excess(point.accuracy);
      return other.milliseconds <= point.milliseconds && a <= b &&
             (other.milliseconds < point.milliseconds || a < b);
    });
  }

  EngineSearch& search_;
  const PrecisionOptions& options_;
  SearchObserver& observer_;
  std::map<std::string, size_t> nodes_by_op_;  ///< of the main graph
  std::vector<std::string> bodies_;            ///< that hold layers
  PrecisionResult result_;
};

}  // namespace

PrecisionResult search_precision(EngineSearch& search, const PrecisionOptions& options,
                                 SearchObserver& observer) {
  return PrecisionSearch(search, options, observer).run();
}

}  // namespace assay::debug
