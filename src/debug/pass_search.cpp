#include "debug/pass_search.h"

#include <fmt/format.h>

#include "assay/error.h"
#include "debug/child.h"
#include "debug/halvings.h"

namespace assay::debug {
namespace {

class PassSearch {
 public:
  PassSearch(EngineSearch& search, SearchObserver& observer) : search_(search), observer_(observer) {}

  PassResult run() {
    observer_.begin_stage("all edits, and none");
    if (!fails_with_all()) return finish(PassResult::Outcome::kPasses);
    list_edits();
    if (edits_.empty() || fails_with(0)) return finish(PassResult::Outcome::kNotPasses);
    observer_.begin_stage("edits");
    size_t good = 0, bad = edits_.size();
    while (bad - good > 1) {
      expect_numbers(next_middles(good, bad, search_.foresight()));
      const size_t middle = (good + bad) / 2;
      (fails_with(middle, halvings(bad - good)) ? bad : good) = middle;
    }
    result_.position = bad;
    result_.guilty = edits_[bad - 1];
    observer_.begin_stage("what leaves it out");
    result_.is_alone = passes_but_for(result_.guilty);
    result_.passes_without = passes_without(result_.guilty.pass);
    return finish(PassResult::Outcome::kFound);
  }

 private:
  PassResult finish(PassResult::Outcome outcome) {
    result_.outcome = outcome;
    return std::move(result_);
  }

  /// By estimates first, so that all builds choose the same.
  bool fails_with_all() {
    for (const bool is_timed : {false, true}) {
      result_.is_timed = is_timed;
      result_.failure = ask(is_timed ? "all edits, timed" : "all edits", {});
      require(result_.failure.kind != AnswerKind::kDidNotRun, ErrorCode::kInvalidArgument,
              "the engine could not be checked: {}", result_.failure.failure);
      if (!result_.failure.passed()) {
        search_.seek(result_.failure);
        return true;
      }
    }
    return false;
  }

  void list_edits() {
    const PassWatch watch(search_.runtime().passes, [](size_t, const WatchedEdit&) { return true; });
    // Of each edit its pass and the number of its nodes, then these.
    const std::vector<std::string> words =
        unpacked(search_.build({.question = {}, .passes = watch.set()}, [&] {
          std::vector<std::string> list;
          for (const WatchedEdit& e : watch.edits()) {
            list.push_back(e.pass);
            list.push_back(std::to_string(e.nodes.size()));
            list.insert(list.end(), e.nodes.begin(), e.nodes.end());
          }
          return packed(list);
        }));
    for (auto at = words.begin(); at != words.end();) {
      WatchedEdit& edit = edits_.emplace_back(WatchedEdit{.pass = *at++, .nodes = {}});
      const auto nodes = std::stoll(*at++);
      edit.nodes.assign(at, at + nodes);
      at += nodes;
    }
    result_.edits = edits_.size();
  }

  EngineTrial trial(const std::string& question, const PassWatch::Allows& allows,
                    const std::function<void(BuilderConfig&)>& change = {}) const {
    EngineTrial trial{.question = question, .change = change, .is_timed = result_.is_timed};
    if (allows) trial.passes = PassWatch(search_.runtime().passes, allows).set();
    return trial;
  }
  Answer ask(const std::string& question, const PassWatch::Allows& allows,
             const std::function<void(BuilderConfig&)>& change = {}) {
    return search_.ask(trial(question, allows, change));
  }

  EngineTrial trial_of(size_t number) const {
    return trial(fmt::format("{} edit(s)", number),
                 [number](size_t position, const WatchedEdit&) { return position < number; });
  }
  bool fails_with(size_t number, std::optional<size_t> remaining = {}) {
    return shows_failure(search_.ask(trial_of(number), remaining), result_.failure);
  }
  void expect_numbers(const std::vector<size_t>& numbers) {
    std::vector<EngineTrial> trials;
    for (const size_t number : numbers) trials.push_back(trial_of(number));
    search_.expect(std::move(trials));
  }

  bool passes_but_for(const WatchedEdit& edit) {
    // Before a pass on the whole model has run, nobody knows what it changes.
    const size_t position = result_.position - 1;
    const auto allows = [position, edit](size_t at, const WatchedEdit& e) {
      return e.pass != edit.pass || (e.nodes.empty() ? at != position : e.nodes != edit.nodes);
    };
    return ask("all edits but the guilty one", allows).passed();
  }

  bool passes_without(const std::string& pass) {
    return ask("without the pass " + pass, {},
               [&](BuilderConfig& config) { config.disabled_passes.push_back(pass); })
        .passed();
  }

  EngineSearch& search_;
  SearchObserver& observer_;
  std::vector<WatchedEdit> edits_;
  PassResult result_;
};

}  // namespace

PassResult search_passes(EngineSearch& search, SearchObserver& observer) {
  return PassSearch(search, observer).run();
}

}  // namespace assay::debug
