#include "engine/planner/network_choice.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "engine/planner/memory_planner.h"
#include "engine/planner/rehearsal.h"
#include "engine/tactics/move/reorder.h"

namespace assay::engine {
namespace {

/// Choices that follow from the times in networks that ran before: so many at most.
constexpr int kMaxRounds = 2;
/// Turns of every network, at least and at most.
constexpr size_t kMinTurns = 5, kMaxTurns = 60;
/// A turn of a network that is faster than this runs in, uncounted, and has several runs. Seconds.
constexpr double kShortRun = 0.01, kTurn = 0.005;
/// ... but no more of them than this: the time around steps, which is not counted, may be most of it.
constexpr size_t kMaxRuns = 20;
/// A network that took so much longer than the one beside it in the best of two rounds does not run again.
constexpr double kFarBehind = 1.3;
/// What another choice must gain on the fixed one.
constexpr double kGainOnFixed = 0.01;
/// Networks whose ratio is known less exactly than this run for longer, up to so many times.
constexpr double kExact = 0.01, kMostTurns = 3;

uint64_t hash_of(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

/// The order of what regions' options were asked for: the caller hears of each once, whatever is weighed.
class OneFilter {
 public:
  explicit OneFilter(const SelectHooks& hooks) : given_(hooks.filter) {}
  std::function<void(const Region&, std::vector<Option>&)> function() {
    if (!given_) return nullptr;
    return [this](const Region& region, std::vector<Option>& options) { apply(region, options); };
  }

 private:
  void apply(const Region& region, std::vector<Option>& options) {
    const auto known = kept_.find({region.kind, region.nodes});
    if (known == kept_.end()) {
      given_(region, options);
      auto& names = kept_[{region.kind, region.nodes}];
      for (const Option& o : options) names.push_back(o.name());
      return;
    }
    std::vector<Option> kept;
    for (const std::string& name : known->second)
      for (Option& o : options)
        if (o.tactic != nullptr && o.name() == name) {
          kept.push_back(std::move(o));
          o.tactic = nullptr;
          break;
        }
    options = std::move(kept);
  }

  const std::function<void(const Region&, std::vector<Option>&)>& given_;
  std::map<std::pair<RegionKind, std::vector<const Node*>>, std::vector<std::string>> kept_;
};

/// Measured costs, but for what has been seen in networks.
class SeenCosts final : public Costs {
 public:
  SeenCosts(MeasuredCosts& alone, const std::unordered_map<std::string, double>& seen)
      : alone_(alone), seen_(seen) {}
  void rate(std::vector<Option>& options) override {
    alone_.rate(options);
    for (Option& o : options) {
      if (!o.candidate.views.empty()) continue;
      if (const auto it = seen_.find(problem_text(o.candidate, *o.tactic)); it != seen_.end())
        o.seconds = it->second;
    }
  }
  double reorder(const Value& v, const Shape& shape, Format from, Format to) override {
    double seconds = 0;
    for (const Format& next : reorder_path(v, shape, from, to)) {
      const auto it = seen_.find(reorder_text(v, shape, from, next));
      seconds += it != seen_.end() ? it->second : alone_.reorder(v, shape, from, next);
      from = next;
    }
    return seconds;
  }

 private:
  MeasuredCosts& alone_;
  const std::unordered_map<std::string, double>& seen_;
};

/// A network as it runs by one choice.
struct Trial {
  std::vector<Choice> choices;
  uint64_t id = 0;
  std::shared_ptr<const Plan> plan;
  std::vector<std::string> problems;  ///< by step; empty: not looked at
  std::unique_ptr<Rehearsal> rehearsal;
  bool failed = false;
  double last_turn = 0;        ///< seconds of a run in it
  std::vector<double> ratios;  ///< seconds of a run divided by the reference's, by round
  double seconds = 0;          ///< 0: not known yet
};

class Weighing {
 public:
  Weighing(Model& model, OptionMaker& maker, MeasuredCosts& costs, const SelectHooks& hooks,
           const NetworkTrial& trial)
      : model_(model), maker_(maker), costs_(costs), hooks_(hooks), filter_(hooks), trial_(trial) {}

  NetworkChoice run() {
    add(select(model_, maker_, costs_, {.filter = filter_.function(), .progress = hooks_.progress}));
    if (trial_.timing.seconds_per_network <= 0) return {std::move(trials_[kAlone].choices), nullptr};
    EstimatedCosts estimated;
    if (!add(select(model_, maker_, estimated, {.filter = filter_.function(), .progress = {}})))
      return {std::move(trials_[kAlone].choices), nullptr};
    size_t fastest = kFixed;
    for (int round = 0;; ++round) {
      if (!measure(fastest)) {
        if (round == 0) fastest = kAlone;
        break;
      }
      const size_t before = fastest;
      for (size_t i = 0; i < trials_.size(); ++i)
        if (trials_[i].seconds < trials_[fastest].seconds &&
            trials_[i].seconds < trials_[kFixed].seconds * (1 - kGainOnFixed))
          fastest = i;
      const bool gains = round == 0 || fastest != before;
      if (!gains || round == kMaxRounds || !add(next())) break;
    }
    Trial& best = trials_[fastest];
    return {std::move(best.choices), std::move(best.plan)};
  }

 private:
  /// False where the network runs so already.
  bool add(std::vector<Choice> choices) {
    std::string text;
    for (const Choice& c : choices)
      text += c.option().candidate.views.empty() ? problem_text(c.option().candidate, *c.option().tactic)
                                                 : c.option().name();
    const uint64_t id = hash_of(text);
    if (std::any_of(trials_.begin(), trials_.end(), [&](const Trial& t) { return t.id == id; })) return false;
    Trial& trial = trials_.emplace_back();
    trial.choices = std::move(choices);
    trial.id = id;
    return true;
  }

  std::string key(const Trial& trial, const std::string& problem) const {
    return fmt::format("{} in network {:016x} of {:016x}", problem, trial.id, trials_.front().id);
  }

  std::vector<Choice> next() {
    std::unordered_map<std::string, std::pair<double, double>> sums;
    for (const Trial& t : trials_)
      for (const std::string& problem : distinct_problems(t))
        if (const auto seconds = trial_.cache.find(key(t, problem))) {
          sums[problem].first += *seconds;
          sums[problem].second += 1;
        }
    std::unordered_map<std::string, double> seen;
    for (const auto& [problem, sum] : sums) seen[problem] = sum.first / sum.second;
    SeenCosts costs(costs_, seen);
    return select(model_, maker_, costs, {.filter = filter_.function(), .progress = {}});
  }

  static std::vector<std::string> distinct_problems(const Trial& t) {
    std::vector<std::string> list = t.problems;
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    std::erase(list, std::string());
    return list;
  }

  /// The seconds of every trial, from the cache or from runs in turns with the `reference`. The machine may
  /// be half as fast for a second: what counts is how long a network took in each round beside the reference.
  /// False where the cache does not know one of them and nothing is to be measured.
  bool measure(size_t reference) {
    for (Trial& t : trials_)
      if (t.plan == nullptr) lower(t);
    const auto has_kernels = [](const Trial& t) {
      return std::any_of(t.problems.begin(), t.problems.end(),
                         [](const std::string& p) { return !p.empty(); });
    };
    if (std::none_of(trials_.begin(), trials_.end(), has_kernels)) return true;  // nothing takes any time
    std::vector<Trial*> runners = {&trials_[reference]};
    for (Trial& t : trials_) {
      if (const auto known = trial_.cache.find(key(t, "all")))
        t.seconds = *known;
      else if (&t != runners[0])
        runners.push_back(&t);
    }
    if (runners.size() == 1 && runners[0]->seconds > 0) return true;
    if (trial_.timing.use_only) return false;
    if (costs_.progress) costs_.progress("the whole network");
    for (Trial* t : runners) prepare(*t);
    run_in_turns(runners);
    for (Trial* t : runners) {
      if (t->seconds == 0) record(*t, *runners[0]);
      t->rehearsal.reset();
    }
    return true;
  }

  void record(Trial& t, const Trial& reference) {
    double seconds = kFailedSeconds;
    t.failed = t.failed || t.rehearsal->runs() == 0;
    if (!t.failed && (&t == &reference || reference.failed || t.ratios.empty()))
      seconds = t.rehearsal->seconds();
    else if (!t.failed)
      seconds = reference.seconds * certain_ratio(t.ratios);
    if (!t.failed && t.rehearsal->seconds() > 0) record_steps(t, seconds / t.rehearsal->seconds());
    const std::string all = key(t, "all");
    trial_.cache.set(all, seconds);
    t.seconds = *trial_.cache.find(all);
  }

  void lower(Trial& t) {
    LoweredPlan lowered =
        lower_choices(model_, maker_, t.choices, trial_.threads, trial_.constants, {.has_data = true});
    resolve_outputs(lowered);
    place_values(lowered);
    t.plan = std::make_shared<Plan>(std::move(lowered.plan));
    t.problems.resize(t.plan->steps.size());
    auto choice = t.choices.begin();
    for (size_t s = 0; s < t.plan->steps.size(); ++s) {
      const Step& step = t.plan->steps[s];
      while (choice != t.choices.end() && !choice->option().candidate.views.empty()) ++choice;
      if (choice != t.choices.end() && step.tactic == choice->option().tactic->name &&
          step.origins == origins_of(choice->region)) {
        if (choice->option().tactic->factory.makes_kernels())
          t.problems[s] = problem_text(choice->option().candidate, *choice->option().tactic);
        ++choice;
      } else if (step.tactic == tactic_reorder::def.name) {
        t.problems[s] = reorder_text(t.plan->values[static_cast<size_t>(step.inputs[0])],
                                     t.plan->values[static_cast<size_t>(step.outputs[0])]);
      }
    }
  }

  void prepare(Trial& t) {
    try {
      t.rehearsal = std::make_unique<Rehearsal>(
          trial_.target, t.plan, [&](std::string_view name) { return trial_.tactics.find_kernel(name); },
          trial_.pool);
      t.failed = !t.rehearsal->run(false);  // pages, and code that is made at the first run
    } catch (const Error&) {
      // Memory that the network takes once it has, perhaps not twice: then it does not come into question.
      t.failed = true;
    }
  }

  void run_in_turns(const std::vector<Trial*>& runners) const {
    Trial& reference = *runners[0];
    for (Trial* t : runners) t->ratios.clear();
    for (size_t round = 0; !reference.failed && round < kMaxTurns; ++round) {
      const double spent = reference.rehearsal->spent() / trial_.timing.seconds_per_network;
      if (round >= kMinTurns && (spent >= kMostTurns || (spent >= 1 && are_exact(runners)))) return;
      // There and back, so that a machine that becomes slower does so for all.
      std::vector<Trial*> order = runners;
      if (round % 2 == 1) std::reverse(order.begin(), order.end());
      for (Trial* t : order) {
        if (t->failed || is_far_behind(*t)) continue;
        if (costs_.progress) costs_.progress("the whole network");  // may end the build
        turn(*t);
      }
      for (Trial* t : order)
        if (!t->failed && !is_far_behind(*t) && reference.last_turn > 0)
          t->ratios.push_back(t->last_turn / reference.last_turn);
    }
  }

  static bool is_far_behind(const Trial& t) {
    return t.ratios.size() >= 2 && *std::min_element(t.ratios.begin(), t.ratios.end()) > kFarBehind;
  }

  static void turn(Trial& t) {
    Rehearsal& r = *t.rehearsal;
    if (r.runs() == 0 || r.seconds() < kShortRun) t.failed = !r.run(false);
    const double before = r.spent();
    const size_t runs = r.runs();
    do {
      t.failed = t.failed || !r.run(true);
    } while (!t.failed && r.spent() - before < kTurn && r.runs() - runs < kMaxRuns);
    t.last_turn = (r.spent() - before) / static_cast<double>(std::max<size_t>(r.runs() - runs, 1));
  }

  static bool are_exact(const std::vector<Trial*>& runners) {
    return std::all_of(runners.begin() + 1, runners.end(), [](const Trial* t) {
      return t->failed || is_far_behind(*t) || error_of_median(t->ratios) <= kExact;
    });
  }

  /// How far the median of so many ratios may be off: the half-width of the notches in a box plot (R. McGill,
  /// J. W. Tukey, W. A. Larsen, Variations of Box Plots, The American Statistician 32(1), 1978).
  static double error_of_median(std::vector<double> list) {
    if (list.size() < 2) return 1;
    std::sort(list.begin(), list.end());
    const double quartiles = list[list.size() * 3 / 4] - list[list.size() / 4];
    return 1.57 * quartiles / std::sqrt(static_cast<double>(list.size()));
  }

  /// A gain counts as far as it is certain: a busy machine makes no plan look faster.
  static double certain_ratio(const std::vector<double>& ratios) {
    const double ratio = median(ratios);
    return ratio < 1 ? std::min(1.0, ratio + std::max(0.0, error_of_median(ratios) - kExact)) : ratio;
  }

  static double median(std::vector<double> list) {
    std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());
    return list[list.size() / 2];
  }

  /// The mean of each problem's steps.
  void record_steps(const Trial& t, double scale) {
    std::map<std::string, std::pair<double, int>> sums;
    for (size_t s = 0; s < t.problems.size(); ++s) {
      if (t.problems[s].empty()) continue;
      sums[t.problems[s]].first += t.rehearsal->step_seconds(s) * scale;
      ++sums[t.problems[s]].second;
    }
    for (const auto& [problem, sum] : sums) trial_.cache.set(key(t, problem), sum.first / sum.second);
  }

  Model& model_;
  OptionMaker& maker_;
  MeasuredCosts& costs_;
  const SelectHooks& hooks_;
  OneFilter filter_;
  const NetworkTrial& trial_;
  static constexpr size_t kAlone = 0, kFixed = 1;
  std::vector<Trial> trials_;  // the choice by measurement first, the fixed one second
};

}  // namespace

NetworkChoice choose_in_network(Model& model, OptionMaker& maker, MeasuredCosts& costs,
                                const SelectHooks& hooks, const NetworkTrial& trial) {
  return Weighing(model, maker, costs, hooks, trial).run();
}

}  // namespace assay::engine
