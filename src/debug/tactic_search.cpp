#include "debug/tactic_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>

#include "assay/error.h"
#include "debug/child.h"
#include "debug/minimal_subset.h"
#include "debug/ranges.h"
#include "engine/tactics/tactic_list.h"
#include "engine/tactics/tactic_set.h"

namespace assay::debug {
namespace {

using Positions = std::vector<size_t>;
using Names = std::set<std::string>;

/// Those that run whole nodes by the operators themselves, and what moves nothing.
const Names& plain_tactics() {
  static const Names names = {
      std::string(engine::tactic_evaluate::def.name), std::string(engine::tactic_control::def.name),
      std::string(engine::tactic_network::def.name), std::string(engine::tactic_view::def.name)};
  return names;
}

class TacticSearch {
 public:
  TacticSearch(EngineSearch& search, const TacticOptions& options, SearchObserver& observer)
      : search_(search), options_(options), observer_(observer) {
    for (const engine::TacticDef* t : search.runtime().tactics->all())
      if (!plain_tactics().contains(std::string(t->name))) others_.emplace(t->name);
  }

  TacticResult run() {
    observer_.begin_stage("the build as it is");
    choices_ = first_choices();
    result_.regions = choices_.size();
    result_.failure = ask("all regions as they were chosen", everything(), {}, {});
    require(result_.failure.kind != AnswerKind::kDidNotRun, ErrorCode::kInvalidArgument,
            "the engine could not be checked: {}", result_.failure.failure);
    if (result_.failure.passed()) return finish(TacticResult::Outcome::kPasses);
    search_.seek(result_.failure);
    if (is_same(ask("no region as it was chosen", {}, others_, {})))
      return finish(TacticResult::Outcome::kNotTactics);
    find_tactics();
    find_regions();
    find_remedy();
    return finish(TacticResult::Outcome::kFound);
  }

 private:
  TacticResult finish(TacticResult::Outcome outcome) {
    result_.outcome = outcome;
    return std::move(result_);
  }
  bool is_same(const Answer& answer) const { return shows_failure(answer, result_.failure); }

  Positions everything() const {
    Positions all(choices_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }

  std::vector<TacticChoice> first_choices() {
    std::error_code failed;
    if (!std::filesystem::exists(options_.choices, failed)) {
      ChoiceRecorder recorder;
      EngineTrial trial{.question = {}, .is_timed = true};
      trial.change = [&](BuilderConfig& config) { config.algorithm_selector = &recorder; };
      search_.build(trial, [&] {
        save_tactic_replay(recorder.replay(), options_.choices);
        return std::string();
      });
    }
    return choices_of(load_tactic_replay(options_.choices));
  }

  /// With the choices at `kept`; elsewhere without the tactics `avoided`.
  EngineTrial trial(const std::string& question, const Positions& kept, const Names& avoided,
                    const Names& bound) const {
    const auto keeper = std::make_shared<ChoiceKeeper>(choices_, kept, avoided, bound);
    // A tactic that no kept region has is left out altogether, so that what only such tactics run dissolves.
    Names disabled = avoided;
    for (const size_t i : kept) disabled.erase(choices_[i].tactic());
    if (!bound.empty()) disabled.clear();  // these need theirs
    EngineTrial trial{.question = question};
    trial.change = [keeper, disabled](BuilderConfig& config) {
      config.algorithm_selector = keeper.get();
      config.disabled_tactics.insert(config.disabled_tactics.end(), disabled.begin(), disabled.end());
    };
    return trial;
  }
  Answer ask(const std::string& question, const Positions& kept, const Names& avoided, const Names& bound) {
    return search_.ask(trial(question, kept, avoided, bound));
  }

  /// The smallest set that fails in the same way.
  Positions smallest(size_t count, const std::function<EngineTrial(std::span<const size_t>)>& trial_of) {
    const auto expect = [&](const std::vector<Positions>& sets) {
      std::vector<EngineTrial> trials;
      for (const Positions& set : sets) trials.push_back(trial_of(set));
      search_.expect(std::move(trials));
    };
    const auto fails = [&](std::span<const size_t> kept) { return is_same(search_.ask(trial_of(kept))); };
    return minimal_subset(
        count, {.fails = fails, .cut_costs = {}, .expect = expect, .foresight = search_.foresight()});
  }

  void find_tactics() {
    observer_.begin_stage("tactics");
    std::vector<std::string> used;
    for (const TacticChoice& c : choices_)
      if (others_.contains(c.tactic()) && std::find(used.begin(), used.end(), c.tactic()) == used.end())
        used.push_back(c.tactic());
    const auto trial_of = [&](std::span<const size_t> kept) {
      Names tactics;
      for (const size_t i : kept) tactics.insert(used[i]);
      return trial(fmt::format("regions of the tactics {} as they were chosen", ranges_text(kept)),
                   regions_of(tactics), others_, {});
    };
    for (const size_t i : smallest(used.size(), trial_of)) guilty_tactics_.insert(used[i]);
  }

  Positions regions_of(const Names& tactics) const {
    Positions regions;
    for (size_t i = 0; i < choices_.size(); ++i)
      if (tactics.contains(choices_[i].tactic())) regions.push_back(i);
    return regions;
  }

  void find_regions() {
    observer_.begin_stage("regions");
    const Positions candidates = regions_of(guilty_tactics_);
    const Names bound = bound_regions();
    const auto with = [&](std::span<const size_t> kept) {
      Positions regions;
      for (const size_t i : kept) regions.push_back(candidates[i]);
      return regions;
    };
    const auto trial_of = [&](std::span<const size_t> kept) {
      const Positions regions = with(kept);
      return trial(fmt::format("the regions {} as they were chosen", ranges_text(regions)), regions, others_,
                   bound);
    };
    Positions guilty;
    if (bound.empty() || !is_same(search_.ask(trial_of({}))))
      guilty = with(smallest(candidates.size(), trial_of));
    else  // what nothing else runs is enough for it
      for (const size_t i : candidates)
        if (bound.contains(layer_name(choices_[i].nodes))) guilty.push_back(i);
    for (const size_t i : guilty) result_.guilty.push_back(choices_[i]);
  }

  /// Regions of the guilty tactics whose nodes have no plain evaluation.
  Names bound_regions() {
    const Positions all = everything();
    ChoiceKeeper keeper(choices_, all);
    ChoiceRecorder recorder(&keeper);
    EngineTrial trial;
    trial.change = [&](BuilderConfig& config) { config.algorithm_selector = &recorder; };
    const std::vector<std::string> bound = unpacked(search_.build(trial, [&] {
      const Names names = recorder.bound_to(others_);
      return packed({names.begin(), names.end()});
    }));
    return {bound.begin(), bound.end()};
  }

  /// The least that leaves the guilty choices out.
  void find_remedy() {
    observer_.begin_stage("what leaves it out");
    Names ways, tactics;
    for (const TacticChoice& c : result_.guilty) {
      ways.insert(c.algorithm);
      tactics.insert(c.tactic());
      for (const std::string& node : c.nodes) result_.pinned[node] = engine::tactic_evaluate::def.name;
    }
    for (const Names& disabled : {ways, tactics}) {
      result_.disabled.assign(disabled.begin(), disabled.end());
      if (passes_with([&](BuilderConfig& config) {
            config.disabled_tactics.insert(config.disabled_tactics.end(), disabled.begin(), disabled.end());
          })) {
        result_.pinned.clear();
        return;
      }
    }
    result_.disabled.clear();
    if (!passes_with([&](BuilderConfig& config) {
          for (const auto& [node, tactic] : result_.pinned)
            config.pinned_tactics.insert_or_assign(node, tactic);
        }))
      result_.pinned.clear();
  }

  bool passes_with(const std::function<void(BuilderConfig&)>& change) {
    EngineTrial trial{.change = change, .is_timed = true};
    trial.question = result_.disabled.empty() ? "its nodes on the plain evaluation" : "without";
    for (const std::string& name : result_.disabled) trial.question += " " + name;
    return search_.ask(trial).passed();
  }

  EngineSearch& search_;
  const TacticOptions& options_;
  SearchObserver& observer_;
  Names others_;  ///< all but the plain ones
  Names guilty_tactics_;
  std::vector<TacticChoice> choices_;
  TacticResult result_;
};

}  // namespace

TacticResult search_tactics(EngineSearch& search, const TacticOptions& options, SearchObserver& observer) {
  return TacticSearch(search, options, observer).run();
}

}  // namespace assay::debug
